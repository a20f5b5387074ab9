import Foundation
import SealKit
import SealLab
import SealWire
import SwiftProtobuf

/// Clients that send a byte now and then, of heads and of bodies, with a session and without, and clients that ask for
/// much and do not read it. Meanwhile somebody else saves, and every save goes through; then the server has got rid of
/// those that held a body.
struct SlowClients {
    let seed: UInt64
    let count: Int

    struct Totals {
        var slow = 0
        /// Bodies that the server did not wait for.
        var cut = 0
        var saves = 0
        var longestSave = Duration.zero
        var megabytes = 0.0
    }

    private enum Manner: CaseIterable {
        case head, body, strangersBody, answer

        /// The server sees that nothing comes of it.
        var isCut: Bool { self == .body || self == .strangersBody }
    }

    /// What a slow client has still to send.
    private final class Client {
        let manner: Manner
        let connection: HTTPConnection
        private var rest: ArraySlice<UInt8>

        init(_ manner: Manner, _ connection: HTTPConnection, _ bytes: [UInt8], atOnce: Int) throws {
            (self.manner, self.connection) = (manner, connection)
            try connection.send(Array(bytes[..<atOnce]))
            rest = bytes[atOnce...]
        }

        /// - Throws: where the server has closed the connection.
        func sendOne() throws {
            guard let byte = rest.popFirst() else { return }
            try connection.send([byte])
        }
    }

    func run() async throws -> Totals {
        var random = SeededRandom(seed: seed)
        let server = try ServerProcess.temporary()
        defer { server.remove() }
        let transport = CapturingTransport(try HTTPTransport(server: server.origin))
        let account = try await Account.create(transport: transport, deviceName: "hurried").account
        let database = try Container(CrashTorture.container, account: account).privateDatabase
        let zone = try await database.save(RecordZone(zoneName: "hurried")).zoneID
        let captured = try await transport.capture {
            _ = try await database.modifyRecords(saving: (0..<200).map { Self.note("n\($0)", zone) })
        }
        guard let request = captured.first else { throw Finding("the SDK sent nothing") }
        var totals = Totals()
        var clients: [Client] = []
        for index in 0..<count {
            guard let manner = random.one(of: Manner.allCases) else { continue }
            // From several addresses, none of them the hurried one's.
            let connection = try HTTPConnection(port: server.port, from: "127.0.0.\(2 + index % 8)")
            clients.append(try Self.client(manner, request, zone.zoneName, connection, &random))
            totals.slow += 1
        }
        // Longer than the server waits for a body of which hardly anything comes, and for the rest of it once it has
        // said so. In turns as well: on a machine that is busy they are few, and whoever sends nothing does not hear
        // that the connection is closed.
        let end = ContinuousClock.now + .seconds(60)
        while clients.contains(where: \.manner.isCut) {
            try check(
                ContinuousClock.now < end || totals.saves < 100,
                "the server waits for bodies of which a byte comes now and then")
            clients.removeAll { client in
                do { try client.sendOne() } catch {
                    if client.manner.isCut { totals.cut += 1 }
                    return true
                }
                return false
            }
            let start = ContinuousClock.now
            let saved = Self.note("hurried-\(totals.saves)", zone)
            _ = try await patiently("a save beside slow clients") { try await database.save(saved) }
            totals.saves += 1
            totals.longestSave = max(totals.longestSave, ContinuousClock.now - start)
            try await Task.sleep(for: .milliseconds(100))
        }
        totals.megabytes = server.residentMegabytes
        try DatabaseCheck(dataFolder: server.dataFolder).run()
        return totals
    }

    private static func note(_ name: String, _ zone: RecordZone.ID) -> Record {
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zone))
        record.encryptedValues["body"] = String(repeating: "text ", count: 1_000)
        return record
    }

    private static func client(
        _ manner: Manner, _ request: CapturingTransport.Captured, _ zone: String, _ connection: HTTPConnection,
        _ random: inout SeededRandom
    ) throws -> Client {
        let whole = HTTPConnection.request(path: request.path, body: request.body, token: request.token)
        let head = whole.count - request.body.count
        switch manner {
        case .head: return try Client(manner, connection, whole, atOnce: 1 + random.below(20))
        case .body: return try Client(manner, connection, whole, atOnce: head + random.below(1_000))
        case .strangersBody:
            let body = Data(count: 200_000)
            let bytes = HTTPConnection.request(path: "/1/accounts/create", body: body, token: "")
            return try Client(manner, connection, bytes, atOnce: bytes.count - body.count + random.below(1_000))
        case .answer:
            let changes = try Sealkit_V1_RecordChangesRequest.with { $0.zone.zoneName = zone }.serializedData()
            let path = request.path.replacing("records/modify", with: "records/changes")
            let bytes = HTTPConnection.request(path: path, body: changes, token: request.token)
            return try Client(manner, connection, bytes, atOnce: bytes.count)
        }
    }
}

extension SlowClients.Totals {
    /// What was proven.
    var text: String {
        """
        \(slow) clients were slow, \(cut) of them in a body that the server did not wait for; meanwhile \(saves) saves of somebody else went \
        through, the longest in \(longestSave). The server's memory: \(Int(megabytes)) MiB.
        """
    }
}
