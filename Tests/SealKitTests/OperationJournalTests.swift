import Foundation
import SealLab
import SealPrimitives
import Synchronization
import Testing

@testable import SealKit

/// The file that long-lived operations are kept in.
@Suite(.timeLimit(.minutes(60))) struct OperationJournalTests {
    private func content(_ folder: URL) throws -> Data {
        var all = Data()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("journal") {
            all += try Data(contentsOf: folder.appendingPathComponent(name))
        }
        return all
    }

    /// A thief of the disk learns how many there are, and nothing that they are about.
    @Test func showsNothingOfWhatItHolds() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone("canary-zone-\(UUID().uuidString.prefix(6))")
        let device = try MortalDevice(ann)
        let file = device.folder.url.appendingPathComponent("canary-file")
        try Data("canary-asset".utf8).write(to: file)
        var note = ann.note(in: zone, "canary-body", name: "canary-name")
        note["canaryPlain"] = "canary-plain"
        note["canaryScan"] = Asset(fileURL: file)
        let draft = note
        _ = try await device.run { container in
            let operation = try await container.privateDatabase.beginModifyingRecords(saving: [draft])
            let begun = try content(device.folder.url)
            _ = try await operation.results()
            for bytes in [begun, try content(device.folder.url)] {
                #expect(bytes.range(of: Data("canary".utf8)) == nil)
                #expect(bytes.count > 1_000)
            }
        }
        let mode = try FileManager.default.attributesOfItem(atPath: device.journalFile.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func isOneProcessesAtATime() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("journal")
        let first = try OperationJournal(file: file)
        #expect(throws: SealKitError(.constraintViolation, "")) { try OperationJournal(file: file) }
        try first.close()
        try OperationJournal(file: file).close()
    }

    @Test func oneOperationIsRunOnceAtATime() async throws {
        let folder = try TemporaryFolder()
        let journal = try OperationJournal(file: folder.url.appendingPathComponent("journal"))
        var random = SystemRandom()
        let id = ID16(random: &random)
        try journal.claim(id)
        #expect(throws: SealKitError(.constraintViolation, "")) { try journal.claim(id) }
        journal.release(id)
        try journal.claim(id)
    }

    /// What is damaged is an error with a name, and nothing is sent because of it.
    @Test func aDamagedOneSendsNothing() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        let note = ann.note(in: zone, "x", name: "note")
        _ = try await device.run { try await $0.privateDatabase.beginModifyingRecords(saving: [note]) }
        // A bit of the last page that has content.
        var bytes = try Data(contentsOf: device.journalFile)
        let sealed = try #require(bytes.lastIndex { $0 != 0 })
        bytes[sealed] ^= 1
        try bytes.write(to: device.journalFile)
        let fate = Fate()
        _ = try await device.run(fate) { container in
            #expect(await failure { _ = try await container.longLivedOperations } == .internalError)
        }
        #expect(fate.steps.allSatisfy { !$0.hasPrefix("request") })
        let journal = try OperationJournal(file: device.journalFile)
        try journal.removeAll()
        try journal.close()
        #expect(try await device.run { try await $0.longLivedOperations.count } == 0)

        try Data("no journal at all, but some text that is long enough".utf8).write(to: device.journalFile)
        #expect(throws: SealKitError(.internalError, "")) { try OperationJournal(file: device.journalFile) }
    }

    /// Rows are bound to their operation and place: none passes for another.
    @Test func aRowPassesForNoOther() async throws {
        let ann = try await Person()
        let seal = JournalSeal(account: ann.account)
        var random = SystemRandom()
        let (one, other) = (ID16(random: &random), ID16(random: &random))
        let row = seal.seal([1, 2, 3], as: "request/0", of: one)
        #expect(try seal.open(row, of: one) == [1, 2, 3])
        #expect(throws: SealError.authenticationFailed) { try seal.open(row, of: other) }
        let moved = OperationJournal.Row(name: "request/1", sealed: row.sealed)
        #expect(throws: SealError.authenticationFailed) { try seal.open(moved, of: one) }
        let bob = try await Person()
        #expect(throws: SealError.authenticationFailed) { try JournalSeal(account: bob.account).open(row, of: one) }
    }

    /// What an account has begun ends with its sign-out, and is nothing to the next account.
    @Test func goesWithItsAccount() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        let folder = try TemporaryFolder()
        let journal = try OperationJournal(file: folder.url.appendingPathComponent("journal"))
        let accounts = AccountProvider()
        let container = try Container(ann.container.containerIdentifier, accounts: accounts)
        let note = ann.note(in: zone, "x", name: "note")
        func count() async throws -> Int { try await container.longLivedOperations.count }

        accounts.signIn(ann.account, journal: journal)
        _ = try await container.privateDatabase.beginModifyingRecords(saving: [note])
        accounts.lock()
        #expect(await failure { _ = try await count() } == .accountTemporarilyUnavailable)
        accounts.signIn(ann.account, journal: journal)
        #expect(try await count() == 1)
        accounts.signIn(bob.account, journal: journal)
        #expect(try await count() == 0)
        accounts.signIn(ann.account, journal: journal)
        #expect(try await count() == 0, "it was not kept for later")

        _ = try await container.privateDatabase.beginModifyingRecords(saving: [note])
        accounts.signOut()
        accounts.signIn(ann.account, journal: journal)
        #expect(try await count() == 0)
    }

    /// The next account may come with a journal of its own: the one before is emptied all the same.
    @Test func goesWithItsAccountWhicheverJournalTheNextOneHas() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        let folder = try TemporaryFolder()
        let journal = try OperationJournal(file: folder.url.appendingPathComponent("journal"))
        let accounts = AccountProvider()
        let container = try Container(ann.container.containerIdentifier, accounts: accounts)
        accounts.signIn(ann.account, journal: journal)
        _ = try await container.privateDatabase.beginModifyingRecords(saving: [ann.note(in: zone, "x")])
        #expect(try await journal.operations(of: ann.account.keys.rootKey).count == 1)
        accounts.signIn(
            bob.account, journal: try OperationJournal(file: folder.url.appendingPathComponent("another")))
        #expect(try await journal.operations(of: ann.account.keys.rootKey).isEmpty)
    }

    /// Whoever locks an account and signs out then leaves nothing behind either.
    @Test func partsOfALockedAccountGoWithIt() async throws {
        let ann = try await Person()
        let folder = try TemporaryFolder()
        let journal = try OperationJournal(file: folder.url.appendingPathComponent("journal"))
        let accounts = AccountProvider()
        let container = try Container(ann.container.containerIdentifier, accounts: accounts)
        accounts.signIn(ann.account, journal: journal)
        let zone = try await ann.makeZone()
        let file = folder.url.appendingPathComponent("file")
        try pattern(1_000).write(to: file)
        var note = ann.note(in: zone, "with a file")
        note["file"] = Asset(fileURL: file)
        let saved = try await ann.own.save(note)
        let database = container.privateDatabase.fetchingAssets(.onDemand)
        let asset: Asset? = try await database.record(for: saved.recordID)["file"]
        _ = try await database.beginDownload(
            try #require(asset), of: saved.recordID, to: folder.url.appendingPathComponent("copy"))
        let part = try #require(try journal.parts(of: ann.account).first)
        try Data("plain".utf8).write(to: part)
        accounts.lock()
        #expect(FileManager.default.fileExists(atPath: part.path))
        accounts.signOut()
        #expect(!FileManager.default.fileExists(atPath: part.path))
    }

    @Test func holdsSoManyAndNoMore() async throws {
        let folder = try TemporaryFolder()
        let journal = try OperationJournal(file: folder.url.appendingPathComponent("journal"))
        let ann = try await Person()
        let seal = JournalSeal(account: ann.account)
        var random = SystemRandom()
        func add() async throws {
            let id = ID16(random: &random)
            try await journal.add(id, of: ann.account.keys.rootKey, seal.seal([1], as: "input", of: id))
        }
        for _ in 0..<OperationJournal.mostOperations { try await add() }
        #expect(await failure { try await add() } == .limitExceeded)
    }

    @Test func whatCannotOutliveTheProcessIsRefused() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = ann.note(in: zone, "x", name: "note")
        #expect(await failure { _ = try await ann.own.beginModifyingRecords(saving: [note]) } == .invalidArguments)
        let device = try MortalDevice(ann)
        _ = try await device.run { container in
            let own = container.privateDatabase
            var scan = note
            scan["scan"] = Asset(fileURL: TemporaryAssets.folder.appendingPathComponent("scan"))
            let share = Record.ID(recordName: Share.recordName, zoneID: zone)
            let codes = [
                await failure { _ = try await own.beginModifyingRecords(saving: [scan]) },
                await failure { _ = try await own.beginModifyingRecords(saving: [note, note]) },
                await failure { _ = try await own.beginModifyingRecords(deleting: [share]) },
            ]
            #expect(codes == Array(repeating: .invalidArguments, count: 3))
            let begun = try await container.longLivedOperations
            #expect(begun.isEmpty)
        }
    }
}
