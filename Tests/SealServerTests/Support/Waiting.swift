/// Waits for what must happen, a minute at most: long enough for a busy machine, and a test that waits in vain ends and
/// says so.
func waitUntil(_ what: String, _ hasHappened: () async throws -> Bool) async throws {
    for _ in 0..<6_000 {
        if try await hasHappened() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw TestFailure("waited in vain until \(what)")
}
