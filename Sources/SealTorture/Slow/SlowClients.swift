import Foundation
import SealKit
import SealLab

/// Clients that send a byte now and then, of heads and of bodies, with a session and without, and clients that ask for
/// much and do not read it. Meanwhile somebody else saves, and every save goes through; in the end the server has got
/// rid of them all.
struct SlowClients {
    let seed: UInt64
    let count: Int

    struct Totals {
        var slow = 0
        /// What the server did not wait for.
        var headsCut = 0
        var bodiesCut = 0
        var strangersBodiesCut = 0
        var downloadsCut = 0
        var saves = 0
        var longestSave = Duration.zero
        var megabytes = 0.0

        fileprivate mutating func noteCut(_ manner: Manner) {
            switch manner {
            case .head: headsCut += 1
            case .body: bodiesCut += 1
            case .strangersBody: strangersBodiesCut += 1
            case .download: downloadsCut += 1
            }
        }
    }

    fileprivate enum Manner: CaseIterable {
        case head, body, strangersBody, download

        var isBody: Bool { self == .body || self == .strangersBody }
    }

    /// What the system keeps at most for a client that does not read.
    private static let unread: Int32 = 64 << 10

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
        let container = try Container(CrashTorture.container, account: account)
        let database = container.privateDatabase
        let zone = try await database.save(RecordZone(zoneName: "hurried")).zoneID
        let captured = try await transport.capture {
            _ = try await database.modifyRecords(saving: (0..<200).map { Self.note("n\($0)", zone) })
        }
        guard let request = captured.first else { throw Finding("the SDK sent nothing") }
        let asset = try await UnreadAsset(
            folder: server.folder, in: zone, of: container, request, HTTPTransport(server: server.origin))
        var totals = Totals()
        var clients: [Client] = []
        for index in 0..<count {
            // As many of each.
            let manner = Manner.allCases[index % Manner.allCases.count]
            // From several addresses, none of them the hurried one's.
            let connection = try HTTPConnection(
                port: server.port, from: "127.0.0.\(2 + random.below(8))",
                keeping: manner == .download ? Self.unread : nil)
            clients.append(try Self.client(manner, request, asset, connection, &random))
            totals.slow += 1
        }
        // Longer than the server waits for a body of which hardly anything comes, and for the rest of it once it has
        // said so. In turns as well: on a machine that is busy they are few, and whoever sends nothing does not hear
        // that the connection is closed.
        let end = ContinuousClock.now + .seconds(60)
        while clients.contains(where: \.manner.isBody) {
            try check(
                ContinuousClock.now < end || totals.saves < 100,
                "the server waits for bodies of which a byte comes now and then")
            clients.removeAll { client in
                do { try client.sendOne() } catch {
                    totals.noteCut(client.manner)
                    return true
                }
                return false
            }
            try await Self.save(in: zone, database, &totals)
            try await Task.sleep(for: .milliseconds(100))
        }
        try await untilTheRestIsCut(&clients, server, &totals) { try await Self.save(in: zone, database, &$0) }
        totals.megabytes = server.residentMegabytes
        try DatabaseCheck(dataFolder: server.dataFolder).run()
        try await checkNoAccusation(container, by: "the hurried one")
        return totals
    }

    /// Somebody else's.
    private static func save(in zone: RecordZone.ID, _ database: Database, _ totals: inout Totals) async throws {
        let start = ContinuousClock.now
        let saved = note("hurried-\(totals.saves)", zone)
        _ = try await patiently("a save beside slow clients") { try await database.save(saved) }
        totals.saves += 1
        totals.longestSave = max(totals.longestSave, ContinuousClock.now - start)
    }

    /// Twice as long as a chunk of a download may take to go, which is two minutes and a half; a head has two.
    private static let longest = Duration.seconds(300)

    /// Who does not read does not hear that the connection is closed: that is seen on the server's side, and for
    /// downloads in how little is left to be read.
    private func untilTheRestIsCut(
        _ clients: inout [Client], _ server: ServerProcess, _ totals: inout Totals,
        meanwhile save: (inout Totals) async throws -> Void
    ) async throws {
        let end = ContinuousClock.now + Self.longest
        while !clients.isEmpty {
            try check(
                ContinuousClock.now < end,
                "the server holds \(clients.count) heads of which a byte comes now and then, or downloads that nobody takes"
            )
            let held = server.clientEnds
            var left: [Client] = []
            for client in clients {
                if held.contains(client.connection.localEnd) {
                    left.append(client)
                    // That it is gone is seen the next time.
                    try? client.sendOne()
                } else {
                    totals.noteCut(client.manner)
                    guard client.manner == .download else { continue }
                    try check(
                        client.connection.receiveToEnd() < UnreadAsset.bytes,
                        "a download came whole to a client that took nothing: the system keeps too much")
                }
            }
            clients = left
            try await save(&totals)
            try await Task.sleep(for: .seconds(1))
        }
    }

    private static func note(_ name: String, _ zone: RecordZone.ID) -> Record {
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zone))
        record.encryptedValues["body"] = String(repeating: "text ", count: 1_000)
        return record
    }

    private static func client(
        _ manner: Manner, _ request: CapturingTransport.Captured, _ asset: UnreadAsset, _ connection: HTTPConnection,
        _ random: inout SeededRandom
    ) throws -> Client {
        let whole = HTTPConnection.request(path: request.path, body: request.body, token: request.token)
        let head = whole.count - request.body.count
        switch manner {
        case .head:
            // So long that it does not end before the server has given it up.
            let path = request.path + "?" + String(repeating: "a", count: 4_000)
            let bytes = HTTPConnection.request(path: path, body: request.body, token: request.token)
            return try Client(manner, connection, bytes, atOnce: 1 + random.below(20))
        case .body: return try Client(manner, connection, whole, atOnce: head + random.below(1_000))
        case .strangersBody:
            let body = Data(count: 200_000)
            let bytes = HTTPConnection.request(path: "/1/accounts/create", body: body, token: "")
            return try Client(manner, connection, bytes, atOnce: bytes.count - body.count + random.below(1_000))
        case .download:
            let bytes = asset.request(token: request.token)
            let client = try Client(manner, connection, bytes, atOnce: bytes.count)
            try connection.receiveSomeOfWhatWasAskedFor()
            return client
        }
    }
}

extension SlowClients.Totals {
    /// What was proven.
    var text: String {
        """
        \(slow) clients were slow. The server did not wait for \(headsCut) heads, \(bodiesCut) bodies, \(strangersBodiesCut) bodies of strangers, and \
        for nobody to take \(downloadsCut) downloads; meanwhile \(saves) saves of somebody else went through, the longest in \(longestSave). The server's \
        memory: \(Int(megabytes)) MiB.
        """
    }
}
