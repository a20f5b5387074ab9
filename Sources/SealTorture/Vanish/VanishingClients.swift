import Foundation
import SealKit
import SealLab
import SealWire
import SwiftProtobuf

/// Clients that disappear in the middle: after half a head, half a body, a whole request whose answer they do not wait
/// for, or half an answer. Afterwards each request happened whole or not at all, and the server holds nothing of those
/// clients any more. What of theirs is whole it takes, and what they ask for it gives: else nothing would be cut short.
struct VanishingClients {
    let seed: UInt64
    let count: Int

    struct Totals {
        var cutShort = 0
        var unread = 0
        var unheard = 0
        var happened = 0
        var filesBefore = 0
        var filesAfter = 0
        var megabytesBefore = 0.0
        var megabytesAfter = 0.0
    }

    private enum Manner: CaseIterable {
        case insideTheHead, insideTheBody, insideTheBodyWithReset, beforeTheAnswer, beforeTheAnswerWithReset,
            insideTheUpload
        case insideTheAnswer, insideTheDownload, insideTheEvents

        /// They change nothing, and something is on its way to them when they go.
        var isReading: Bool { self == .insideTheAnswer || self == .insideTheDownload || self == .insideTheEvents }
        var isWhole: Bool { self == .beforeTheAnswer || self == .beforeTheAnswerWithReset }
    }

    /// What one of them sent, and whether its answer was there when it went.
    private typealias Batch = (manner: Manner, names: [String], hasHappened: Bool)

    func run() async throws -> Totals {
        var random = SeededRandom(seed: seed)
        // Who is refused for asking too often has been cut short by nobody.
        let server = try ServerProcess.temporary(arguments: ServerProcess.withoutRates)
        defer { server.remove() }
        let transport = CapturingTransport(try HTTPTransport(server: server.origin))
        let account = try await Account.create(transport: transport, deviceName: "vanishing").account
        let container = try Container(CrashTorture.container, account: account)
        let (database, owner) = (container.privateDatabase, try container.userRecordID().recordName)
        let zone = try await database.save(RecordZone(zoneName: "vanishing")).zoneID
        let first = try await Self.captured(["stayed"], in: zone, database, transport)
        let asset = try await UnreadAsset(
            folder: server.folder, in: zone, of: container, first, HTTPTransport(server: server.origin))
        try await stay(first, Record.ID(recordName: "stayed", zoneID: zone), database, server)
        var totals = Totals()
        var batches: [Batch] = []
        // What the first clients make the server build stays, so it is measured after them.
        for number in 0..<count {
            if number == count / 4 {
                try await settle(server, files: nil)
                totals.filesBefore = server.openFiles
                totals.megabytesBefore = server.residentMegabytes
            }
            guard let manner = random.one(of: Manner.allCases) else { continue }
            let names = (0..<(1 + random.below(5))).map { "v-\(number)-\($0)" }
            let request = try await Self.captured(names, in: zone, database, transport)
            // The first that sends a whole request, and every third of them.
            let hasHappened = manner.isWhole && batches.count { $0.manner.isWhole } % 3 == 0
            try vanish(
                manner, request, zone: zone.zoneName, assets: "assets/\(owner)/\(zone.zoneName)", asset, server,
                answerIsThere: hasHappened, &random)
            batches.append((manner, names, hasHappened))
        }
        try await settle(server, files: totals.filesBefore)
        totals.filesAfter = server.openFiles
        totals.megabytesAfter = server.residentMegabytes
        try check(
            // Some for connections to the database, which are kept: each vanished client would be one more.
            totals.filesAfter <= totals.filesBefore + 16,
            "the server holds \(totals.filesAfter) files after \(totals.filesBefore) before: connections are left over")
        try check(
            totals.megabytesAfter <= totals.megabytesBefore + 64,
            "the server's memory grew from \(totals.megabytesBefore) to \(totals.megabytesAfter) MiB")
        try await examine(batches, database, zone, &totals)
        try await checkNoAccusation(container, by: "the device whose requests were sent")
        let files = DatabaseCheck(dataFolder: server.dataFolder)
        try files.run()
        try check(try files.count("SELECT COUNT(*) FROM blob") == 1, "uploads that were cut short have left something")
        return totals
    }

    /// A request that saves notes of these names, and was not sent.
    private static func captured(
        _ names: [String], in zone: RecordZone.ID, _ database: Database, _ transport: CapturingTransport
    ) async throws -> CapturingTransport.Captured {
        let captured = try await transport.capture {
            _ = try await database.modifyRecords(
                saving: names.map { name in
                    var record = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zone))
                    record.encryptedValues["body"] = String(repeating: "text ", count: 2_000)
                    return record
                })
        }
        guard let request = captured.first else { throw Finding("the SDK sent nothing") }
        return request
    }

    /// One client waits for its answer: as it sends its request, the server takes it.
    private func stay(
        _ request: CapturingTransport.Captured, _ id: Record.ID, _ database: Database, _ server: ServerProcess
    ) async throws {
        let connection = try HTTPConnection(port: server.port)
        try connection.send(HTTPConnection.request(path: request.path, body: request.body, token: request.token))
        let answer = try connection.receive()
        try check(answer.status == 200, "a client that stays is answered with \(answer.status)")
        _ = try await database.record(for: id)
    }

    /// - Parameter answerIsThere: when the client goes.
    private func vanish(
        _ manner: Manner, _ request: CapturingTransport.Captured, zone: String, assets: String, _ asset: UnreadAsset,
        _ server: ServerProcess, answerIsThere: Bool, _ random: inout SeededRandom
    ) throws {
        let connection = try HTTPConnection(port: server.port)
        let bytes = HTTPConnection.request(path: request.path, body: request.body, token: request.token)
        let head = bytes.count - request.body.count
        switch manner {
        case .insideTheHead: try connection.send(Array(bytes.prefix(1 + random.below(head - 1))))
        case .insideTheBody, .insideTheBodyWithReset:
            try connection.send(Array(bytes.prefix(head + random.below(request.body.count))))
        case .beforeTheAnswer, .beforeTheAnswerWithReset:
            try connection.send(bytes)
            if answerIsThere {
                let status = try connection.awaitStatus()
                try check(status == 200, "a whole request is answered with \(status)")
            } else if random.chance(50) {
                usleep(UInt32(random.below(3_000)))
            }
        case .insideTheUpload:
            let id = UUID().uuidString.replacing("-", with: "").lowercased()
            let path = request.path.replacing("records/modify", with: "\(assets)/\(id)")
            let announced = HTTPConnection.request(
                "PUT", path: path, body: Data(count: 1_000_000), token: request.token)
            try connection.send(Array(announced.prefix(announced.count - 1 - random.below(900_000))))
        case .insideTheAnswer:
            let changes = try Sealkit_V1_RecordChangesRequest.with { $0.zone.zoneName = zone }.serializedData()
            let path = request.path.replacing("records/modify", with: "records/changes")
            try connection.send(HTTPConnection.request(path: path, body: changes, token: request.token))
            try connection.receiveSomeOfWhatWasAskedFor()
        case .insideTheDownload:
            try connection.send(asset.request(token: request.token))
            try connection.receiveSomeOfWhatWasAskedFor()
        case .insideTheEvents:
            let path = request.path.replacing("private/records/modify", with: "notifications")
            try connection.send(HTTPConnection.request("GET", path: path, body: Data(), token: request.token))
            try connection.receiveSomeOfWhatWasAskedFor()
        }
        if manner == .insideTheBodyWithReset || manner == .beforeTheAnswerWithReset
            || (manner.isReading && random.chance(50))
        {
            connection.reset()
        }
    }

    /// Waits until the server has noticed that its clients are gone, as long as it goes on noticing.
    private func settle(_ server: ServerProcess, files: Int?) async throws {
        var last = Int.max
        for _ in 0..<100 {
            let now = server.openFiles
            if let files, now <= files { return }
            if files == nil, now == last { return }
            last = now
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private func examine(
        _ batches: [Batch], _ database: Database, _ zone: RecordZone.ID, _ totals: inout Totals
    ) async throws {
        for (manner, names, hasHappened) in batches {
            let ids = names.map { Record.ID(recordName: $0, zoneID: zone) }
            let found = try await database.records(for: ids)
            let there = ids.count { if case .success? = found[$0] { true } else { false } }
            try check(there == 0 || there == names.count, "a batch whose client vanished is there in part")
            if manner.isWhole {
                totals.unheard += 1
                if there > 0 { totals.happened += 1 }
                try check(there > 0 || !hasHappened, "a request was answered, and has had no effect")
            } else {
                if manner.isReading { totals.unread += 1 } else { totals.cutShort += 1 }
                try check(there == 0, "a request that was never whole had an effect")
            }
        }
    }
}

extension VanishingClients.Totals {
    /// What was proven.
    var text: String {
        """
        \(cutShort + unheard + unread) clients vanished: \(cutShort) in the middle of a request, which had no effect; \(unheard) before their \
        answer, \(happened) of whose requests happened, each as a whole; \
        \(unread) in the middle of an answer, a download or a stream of events.
          Files that the server holds: \(filesBefore) before most of them, \(filesAfter) after; memory \(Int(megabytesBefore)) and \
        \(Int(megabytesAfter)) MiB.
        """
    }
}
