import Foundation
import SealKit
import SealLab

/// An asset that is larger than what lies between a server and a client that does not read.
struct UnreadAsset {
    static let bytes = 16 << 20
    private static let name = "asset"

    /// On the server.
    private let path: String

    /// - Parameter request: some change of records in the zone, as it was captured.
    init(
        folder: URL, in zone: RecordZone.ID, of container: Container, _ request: CapturingTransport.Captured,
        _ transport: HTTPTransport
    ) async throws {
        let file = folder.appendingPathComponent("asset")
        try Data(count: Self.bytes).write(to: file)
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: Self.name, zoneID: zone))
        record["scan"] = Asset(fileURL: file)
        try await container.privateDatabase.save(record)
        let base = String(request.path.dropLast("/records/modify".count))
        let items = try await Feed(transport: transport, base: base, token: request.token)
            .changes(in: zone.zoneName, since: Data(), limit: 0).items
        guard let blob = items[Self.name]?.assets.first else {
            throw Finding("an asset that was saved is not there")
        }
        let owner = try container.userRecordID().recordName
        path = "\(base)/assets/\(owner)/\(zone.zoneName)/\(blob)"
    }

    /// What asks for all of it.
    func request(token: String) -> [UInt8] {
        HTTPConnection.request("GET", path: path, body: Data(), token: token)
    }
}

extension HTTPConnection {
    /// Takes some bytes of an answer that gives what was asked for, and no more.
    /// - Throws: `Finding` for another answer.
    func receiveSomeOfWhatWasAskedFor() throws {
        let head = String(decoding: try receiveSome().prefix(12), as: UTF8.self)
        try check(
            ["HTTP/1.1 200", "HTTP/1.1 206"].contains(head), "what a client asks for is not given to it: \(head)")
    }
}
