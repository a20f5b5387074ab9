import Foundation
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Numbers of accounts and identities, and tokens that name neither.
@Suite(.timeLimit(.minutes(60))) struct ShardedNumberTests {
    private func setShard(_ value: String, _ server: RunningServer) async throws {
        try await server.services.database.write(at: .everything) {
            try $0.execute("UPDATE settings SET value = $1 WHERE name = 'shard'", [.text(value)])
        }
    }

    @Test func numbersNameTheAccountsShard() async throws {
        try await RunningServer.with { server in
            let support = AccountDeletionTests()
            let anna = try await support.ids(try await Person.ready(server), server)
            #expect(ShardedNumber(rawValue: anna.account).shard == 1)
            #expect(ShardedNumber(rawValue: anna.identity).shard == 1)
            #expect(ShardedNumber(rawValue: anna.account).number == 1)
            #expect(ShardedNumber(rawValue: anna.identity).number == 2)
            try await setShard("4194304", server)
            let bert = try await support.ids(try await Person.ready(server), server)
            #expect(bert.account == 4_194_304 << 40 | 1)
            #expect(bert.identity == 4_194_304 << 40 | 2)
            // An identity is in its account's shard, wherever new accounts are made.
            let account = anna.account
            let later = try await server.services.database.write(at: .everything) { connection in
                try ShardedNumber.next(in: ShardedNumber(rawValue: account).shard, connection)
            }
            #expect(later.shard == 1)
            #expect(later.number == 3)
        }
    }

    @Test func aServersKeyIsInItsMakersShard() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            try await setShard("9", server)
            _ = try await ServerKeyClient.ready(by: anna)
            let accounts = try await server.services.database.read { connection in
                try connection.rows("SELECT id FROM account") { ShardedNumber(rawValue: try $0.int64("id")).shard }
            }
            #expect(accounts == [1, 1])
        }
    }

    @Test(arguments: ["0", "4194305", "-1", "", "one"]) func aSettingThatIsNoShardIsRefused(_ value: String)
        async throws
    {
        let folder = TemporaryFolder()
        let database = try SQLiteDatabase(path: folder.file("db"), migrations: Migration.all)
        try await database.write(at: .everything) {
            try $0.execute("UPDATE settings SET value = $1 WHERE name = 'shard'", [.text(value)])
        }
        await #expect(throws: StorageError.invalidSetting(name: "shard")) {
            try await database.read { try ShardedNumber.shard(of: $0) }
        }
        try await database.close()
    }

    @Test func aShardThatIsFullGivesNoNumber() async throws {
        let folder = TemporaryFolder()
        let database = try SQLiteDatabase(path: folder.file("db"), migrations: Migration.all)
        try await database.write(at: .everything) { connection in
            try connection.execute("INSERT INTO shard_number (shard, last) VALUES (3, $1)", [.integer(1 << 40 - 2)])
            let last = try ShardedNumber.next(in: 3, connection)
            #expect(last.rawValue == 4 << 40 - 1)
        }
        await #expect(throws: StorageError.noNumber(shard: 3)) {
            try await database.write(at: .everything) { try ShardedNumber.next(in: 3, $0) }
        }
        try await database.close()
    }

    @Test func noNumberComesAgainAfterAnErasure() async throws {
        try await RunningServer.with { server in
            let support = AccountDeletionTests()
            let anna = try await Person.ready(server)
            let before = try await support.ids(anna, server)
            _ = try await support.delete(anna.client)
            try await support.waitUntilErased(server)
            let after = try await support.ids(try await Person.ready(server), server)
            #expect(min(after.account, after.identity) > max(before.account, before.identity))
        }
    }

    // MARK: Tokens

    @Test func tokensNameNoRowAndAreTheirReadersAlone() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            _ = try await anna.save([Write("a")], in: zone)
            let shared = zone
            let hers = try await anna.changes(in: shared).token
            let his = try await bert.changes(in: shared).token
            let (annas, berts) = (try await anna.zoneChanges().token, try await bert.zoneChanges(shared: true).token)
            let support = AccountDeletionTests()
            for person in [anna, bert] {
                let ids = try await support.ids(person, server)
                for number in [ids.account, ids.identity] {
                    let forms = [number.littleEndian, number.bigEndian].map { withUnsafeBytes(of: $0) { Data($0) } }
                    for token in [hers, his, annas, berts] {
                        for form in forms { #expect(token.range(of: form) == nil) }
                    }
                }
            }
            // To its reader's other devices it is good, to another reader of the same zone it is none.
            #expect(try await anna.onAnotherDevice().changes(in: shared, since: hers).records.isEmpty)
            try await expectRefusal(.changeTokenExpired) { try await bert.changes(in: shared, since: hers) }
            try await expectRefusal(.changeTokenExpired) { try await anna.changes(in: shared, since: his) }
            #expect(try await bert.zoneChanges(berts, shared: true).modifications.isEmpty)
            try await expectRefusal(.changeTokenExpired) { try await bert.zoneChanges(annas, shared: true) }
            try await expectRefusal(.changeTokenExpired) { try await bert.zoneChanges(berts) }
        }
    }
}
