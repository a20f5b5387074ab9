import Foundation
import SealKit
import SealLab
import Testing

@testable import SealTorture

/// `make torture`, a little of it each time.
@Suite(.timeLimit(.minutes(60))) struct TortureTests {
    @Test func whatIsAcknowledgedSurvivesKillsUnderLoad() async throws {
        let totals = try await CrashTorture(
            seed: .random(in: 1...999_999_999), rounds: 5, ground: OneServer()
        ).run()
        #expect(totals.rounds == 5)
        #expect(totals.count.acknowledged > 0)
        #expect(totals.count.repeated > 0)
        #expect(totals.notified > 0)
        #expect(totals.records > 0)
        #expect(totals.sharing.acknowledged + totals.sharing.unheard > 0)
    }

    /// What is looked for after each kill: it is nothing, and a file that is lost is seen.
    @Test func whatAKilledServerHasLostIsSeen() async throws {
        let server = try SealLab.ServerProcess.temporary()
        defer { server.remove() }
        let account = try await Account.create(transport: HTTPTransport(server: server.origin), deviceName: "stopped")
            .account
        let database = try Container(CrashTorture.container, account: account).privateDatabase
        let zone = try await database.save(RecordZone(zoneName: "stopped")).zoneID
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: "one", zoneID: zone))
        record["scan"] = Asset(fileURL: try LargeAsset(in: server.folder).file)
        try await database.save(record)
        server.kill()
        var stopped = StoppedCheck()
        try await stopped.run(server.dataFolder)
        let blobs = server.dataFolder.appendingPathComponent("blobs")
        let files = try FileManager.default.subpathsOfDirectory(atPath: blobs.path)
            .filter { $0.split(separator: "/").count == 3 }
        try FileManager.default.removeItem(at: blobs.appendingPathComponent(try #require(files.first)))
        await #expect(throws: Finding.self) {
            var again = StoppedCheck()
            try await again.run(server.dataFolder)
        }
    }

    @Test func clientsThatVanishLeaveNothing() async throws {
        let totals = try await VanishingClients(seed: .random(in: 1...999_999_999), count: 60).run()
        #expect(totals.cutShort + totals.unheard + totals.unread == 60)
        #expect(totals.happened > 0)
    }

    @Test func clientsThatAreSlowHoldNobodyUp() async throws {
        let totals = try await SlowClients(seed: .random(in: 1...999_999_999), count: 60).run()
        #expect(totals.headsCut == 15)
        #expect(totals.bodiesCut == 15)
        #expect(totals.strangersBodiesCut == 15)
        #expect(totals.downloadsCut == 15)
        #expect(totals.saves > 0)
    }

    @Test func whatIsAcknowledgedIsThereAfterASoak() async throws {
        let totals = try await Soak(seed: .random(in: 1...999_999_999), minutes: 1, clients: 20).run()
        #expect(totals.kept > 0)
        #expect(totals.cut > 0)
    }

    /// `SEED=… SealTorture model` makes the same choices again. Ten seeds, and more where chance left out a kind of
    /// step; two at a time, since the last tests to run have the processors to themselves.
    @Test func serverAndModelAgree() async throws {
        let server = try SealLab.ServerProcess.temporary()
        defer { server.remove() }
        let origin = server.origin
        var counts = ModelCounts()
        for pair in 0..<15 where pair < 5 || !counts.missing.isEmpty {
            async let one = modelCounts { try HTTPTransport(server: origin) }
            async let other = modelCounts { try HTTPTransport(server: origin) }
            for played in try await [one, other] { counts.add(played) }
        }
        #expect(counts.missing.isEmpty, "\(counts)")
    }

    private func modelCounts(_ transport: @escaping @Sendable () throws -> any Transport) async throws -> ModelCounts {
        let seed = UInt64.random(in: 1...999_999_999)
        print("the model plays 500 steps of SEED=\(seed)")
        return try await ModelTest(seed: seed, steps: 500, transport: transport).run()
    }
}

/// `make torture-servers`, a little of it each time.
@Suite(
    .enabled("Tests/Support/postgres runs one beside a command") {
        ProcessInfo.processInfo.environment["SEALKIT_TEST_POSTGRES"] != nil
    }, .timeLimit(.minutes(60)))
struct ServersTortureTests {
    @Test func whatAnyServerAcknowledgedSurvivesBlows() async throws {
        let totals = try await CrashTorture(
            seed: .random(in: 1...999_999_999), rounds: 6, ground: SeveralServers(database: LonePostgres())
        ).run()
        #expect(totals.rounds == 6)
        #expect(totals.count.acknowledged > 0)
        #expect(totals.notified > 0)
        #expect(totals.records > 0)
        #expect(totals.sharing.acknowledged + totals.sharing.unheard > 0)
    }

    /// Each request goes to another server than the one before.
    @Test func serversByTurnsAndModelAgree() async throws {
        let ground = try await SeveralServers(database: LonePostgres())
        let seed = UInt64.random(in: 1...999_999_999)
        print("the model plays 500 steps of SEED=\(seed)")
        _ = try await ground.used {
            try await ModelTest(seed: seed, steps: 500, transport: { try ground.transport() }).run()
        }
    }
}
