import SealKit

/// A server that did nothing wrong is accused of nothing. The SDK makes up by itself for what an answer leaves out, and
/// gives out what it notes: neither an omission nor a false alarm shows anywhere else.
/// - Parameter who: has the container.
/// - Throws: `Finding` where there are violations.
func checkNoAccusation(_ container: Container, by who: String) async throws {
    let found = try await container.violations().map {
        "\($0.code.rawValue): \($0.reason) (\($0.recordName ?? "no record") in \($0.zoneID.map { "\($0)" } ?? "no zone"))"
    }
    try check(found.isEmpty, "\(who) says that the server did wrong: \(found.prefix(3).joined(separator: "; "))")
}
