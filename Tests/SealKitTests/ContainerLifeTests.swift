import Foundation
import SealEnvelope
import SealLab
import Testing

@testable import SealKit

/// What stays in memory of a container that nobody has any more, and of an account that was locked: nothing.
@Suite(.timeLimit(.minutes(60))) struct ContainerLifeTests {
    /// What is there as long as somebody has it.
    private struct Traces {
        weak var core: ContainerCore?
        weak var trust: TrustStore?
        weak var account: Account?

        init(_ container: Container) {
            let core = container.core
            (self.core, trust, account) = (core, core.trust, core.account)
        }

        /// What runs beside calls may have it for a moment.
        func fade(withAccount: Bool) async throws {
            for _ in 0..<3_000 where core != nil || trust != nil || withAccount && account != nil {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(core == nil)
            #expect(trust == nil)
            if withAccount { #expect(account == nil) }
        }
    }

    /// Zones, shares, records, assets, feeds and notifications, as an app has them.
    private func use(_ container: Container, with other: Person) async throws {
        let database = container.privateDatabase
        let zone = try await database.save(RecordZone(zoneName: "zone-\(UUID().uuidString.prefix(8))")).zoneID
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: "note", zoneID: zone))
        record.encryptedValues["body"] = "text"
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("life-\(UUID().uuidString)")
        try Data(count: 1_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        record["scan"] = Asset(fileURL: file)
        try await database.save(record)
        _ = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
        _ = try await database.record(for: record.recordID)
        var share = Share(recordZoneID: zone)
        share.addParticipant(
            try await container.shareParticipant(
                forUserRecordID: try other.container.userRecordID(), permission: .readWrite))
        try await database.save(share)
        _ = try await database.databaseChanges(since: nil)
        let listening = Task { for try await _ in container.notifications() {} }
        try await Task.sleep(for: .milliseconds(100))
        listening.cancel()
        _ = await listening.result
        let cut = Task { try await database.save(record) }
        cut.cancel()
        _ = await cut.result
    }

    @Test func aContainerGoesWithTheLastWhoHasIt() async throws {
        let other = try await Person()
        let account = try await Person().account
        func traces() async throws -> Traces {
            let container = try Container("org.example.notes", account: account)
            try await use(container, with: other)
            return Traces(container)
        }
        // The first trust store is the device's.
        account.deviceKeeper.attach(try TrustStore())
        for _ in 0..<2 {
            let left = try await traces()
            try await left.fade(withAccount: false)
        }
    }

    /// With the account's keys, which only a signing in brings back.
    @Test(arguments: [true, false]) func anAccountThatIsLockedOrGoneIsInMemoryNoMore(isLocked: Bool) async throws {
        let other = try await Person()
        let accounts = AccountProvider()
        let container = try Container("org.example.notes", accounts: accounts)
        func traces() async throws -> Traces {
            accounts.signIn(try await Person().account, trust: try TrustStore())
            try await use(container, with: other)
            return Traces(container)
        }
        let left = try await traces()
        #expect(left.account != nil)
        if isLocked { accounts.lock() } else { accounts.signOut() }
        try await left.fade(withAccount: true)
    }

    @Test func whoIsNotThereIsNotTold() {
        final class Owner: Sendable {}
        var watchers = Watchers<Int>()
        let stays = Owner()
        watchers.add(stays) { _ in }
        for _ in 0..<10 { watchers.add(Owner()) { _ in } }
        #expect(watchers.bodies.count == 1)
        watchers.add(stays) { _ in }
        #expect(watchers.count == 2)
    }
}
