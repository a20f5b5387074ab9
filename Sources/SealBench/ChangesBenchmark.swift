import Foundation
import GRDB
import SealKit
import SealLab
import SealWire
import SwiftProtobuf

/// What 100 changes cost in a small zone and in one of a million records. The zones are filled below the server, with
/// copies of a record that it stored; the changes are then saved through it.
struct ChangesBenchmark {
    private static let sizes = [10_000, 1_000_000]
    private static let changes = 100

    func run(_ report: inout Report) async throws {
        report.heading(
            "Fetching \(Self.changes) changes",
            "Zones filled with copies of one record while the server is stopped; changes saved through the server.")
        let folder = ServerProcess.temporaryFolder()
        var server = try ServerProcess(folder: folder)
        try server.waitUntilListening()
        defer { server.remove() }
        let port = server.port
        let person = try await BenchmarkPerson(server, zones: Self.sizes.map { "zone-\($0)" })
        server.terminate()
        try fill(server.dataFolder)
        server = try ServerProcess(folder: folder, port: port)
        try server.waitUntilListening()
        report.row("idle server's memory", server.residentMegabytes, "MiB", aim: .atMost(60))

        var requests: [[UInt8]] = []
        for size in Self.sizes {
            let token = try end(of: "zone-\(size)", person, server)
            try await person.save(Self.changes, in: "zone-\(size)")
            requests.append(try person.changes(in: "zone-\(size)", since: token))
        }
        var best = [Double](repeating: .infinity, count: requests.count)
        for _ in 0..<20 {
            for (index, request) in requests.enumerated() {
                let own = Array(repeating: request, count: 25)
                let seconds = try Load.run(port: server.port, [own]) { status, body in
                    guard status == 200, let page = try? Sealkit_V1_RecordChangesResponse(serializedBytes: body) else {
                        return false
                    }
                    return page.records.count == Self.changes && !page.moreComing
                }
                best[index] = min(best[index], seconds / Double(own.count))
            }
        }
        report.row("of a zone of \(Self.sizes[0]) records", best[0] * 1e6, "µs")
        report.row(
            "of a zone of \(Self.sizes[1]) records", best[1] * 1e6, "µs", ratio: best[1] / best[0], aim: .atMost(1.2))
    }

    /// Numbers the copies on in their zone's feed.
    private func fill(_ folder: URL) throws {
        let queue = try DatabaseQueue(path: folder.appendingPathComponent("sealkit.sqlite").path)
        try queue.write { database in
            for size in Self.sizes {
                try database.execute(
                    sql: """
                        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
                        INSERT INTO record (owner, zone, name, share, type, position, tag, revision, hash, creator, parent, created, modified,
                            deleted, assets, delete_references, key_known, statement, proof, fields)
                        SELECT r.owner, r.zone, 'copy-' || n, r.share, r.type, r.position + n, r.tag, r.revision, r.hash, r.creator, NULL,
                            r.created, r.modified, 0, 0, 0, 0, r.statement, r.proof, r.fields
                        FROM number JOIN zone z ON z.name = ? JOIN record r ON r.owner = z.owner AND r.zone = z.zone
                        WHERE r.name = 'found'
                        """, arguments: [size, "zone-\(size)"])
                try database.execute(
                    sql: "UPDATE zone SET position = position + ? WHERE name = ?", arguments: [size, "zone-\(size)"])
            }
        }
    }

    /// The token at the end of a zone's feed.
    private func end(of zone: String, _ person: BenchmarkPerson, _ server: ServerProcess) throws -> Data {
        let connection = try HTTPConnection(port: server.port)
        var token = Data()
        while true {
            try connection.send(try person.changes(in: zone, since: token, keys: []))
            let page = try Sealkit_V1_RecordChangesResponse(serializedBytes: try connection.receive().body)
            token = page.token
            if !page.moreComing { return token }
        }
    }
}
