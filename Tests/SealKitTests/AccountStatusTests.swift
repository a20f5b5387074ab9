import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// Who is signed in, what that means for calls, and how an app hears of it. The numbers are those of the list of what
/// clients rely on.
@Suite(.timeLimit(.minutes(60))) struct AccountStatusTests {
    private let server: ServerProcess

    init() throws { server = try ServerProcess.shared.get() }

    private func stranger(_ origin: String? = nil) throws -> Account {
        var random = SystemRandom()
        return try Account(
            seeds: [AccountSeed(random: &random)], transport: HTTPTransport(server: origin ?? server.origin))
    }

    private func container(_ accounts: AccountProvider) throws -> Container {
        try Container("org.example.notes", accounts: accounts)
    }

    /// What each call of a database fails with, those without anything to do among them.
    private func codes(_ container: Container) async throws -> Set<SealKitError.Code?> {
        let database = container.privateDatabase
        let note = Record(
            recordType: "Note", recordID: Record.ID(recordName: "x", zoneID: RecordZone.ID(zoneName: "x")))
        let calls: [() async throws -> Void] = [
            { _ = try await database.modifyRecords() },
            { _ = try await database.modifyRecords(saving: [note]) },
            { _ = try await database.records(for: []) },
            { _ = try await database.record(for: note.recordID) },
            { try await database.save(note) },
            { try await database.deleteRecord(withID: note.recordID) },
            { _ = try await database.modifyRecordZones() },
            { _ = try await database.allRecordZones() },
            { _ = try await database.recordZones(for: []) },
            { _ = try await database.recordZoneChanges(inZonesWith: [:]) },
            { _ = try await database.recordZoneChanges(inZonesWith: [note.recordID.zoneID: .init()]) },
            {
                _ = try await database.records(
                    matching: Query(recordType: "Note", predicate: Query.Predicate("TRUEPREDICATE")))
            },
            { _ = try await database.allSubscriptions() },
            { _ = try await database.subscriptions(for: []) },
            { _ = try await database.modifySubscriptions() },
            { try await database.save(DatabaseSubscription(subscriptionID: "all")) },
            { _ = try await database.share(for: note.recordID.zoneID) },
            { _ = try await database.recordZone(for: note.recordID.zoneID) },
            { try await database.save(RecordZone(zoneName: "x")) },
            { try await database.deleteRecordZone(withID: note.recordID.zoneID) },
            { _ = try await database.databaseChanges() },
            { _ = try await database.recordZoneChanges(inZoneWith: note.recordID.zoneID) },
            { _ = try await container.sharedDatabase.allRecordZones() },
            { _ = try await container.sharedDatabase.databaseChanges() },
            { _ = try await container.shareParticipant(forEmailAddress: "a@example.org") },
        ]
        var found: Set<SealKitError.Code?> = []
        for call in calls { found.insert(await failure(call)) }
        return found
    }

    @Test func `1 Without an account, or one that may be used, every call is notAuthenticated, even with empty input`()
        async throws
    {
        let accounts = AccountProvider()
        let container = try container(accounts)
        #expect(try await container.accountStatus() == .couldNotDetermine)
        #expect(try await codes(container) == [.notAuthenticated])
        #expect(throws: SealKitError.self) { try container.userRecordID() }
        accounts.signOut()
        #expect(try await container.accountStatus() == .noAccount)
        #expect(try await codes(container) == [.notAuthenticated])
        accounts.restrict()
        #expect(try await container.accountStatus() == .restricted)
        #expect(try await codes(container) == [.notAuthenticated])
        // Signed in, and the server does not know it.
        accounts.signIn(try stranger())
        #expect(try await container.accountStatus() == .noAccount)
        #expect(try await codes(container) == [.notAuthenticated])
    }

    @Test func `2 While the account is to prove itself again, every call is accountTemporarilyUnavailable`()
        async throws
    {
        let ann = try await Person()
        let accounts = AccountProvider()
        let container = try container(accounts)
        accounts.signIn(ann.account)
        #expect(try await container.accountStatus() == .available)
        accounts.lock()
        #expect(accounts.account == nil)
        #expect(try await container.accountStatus() == .temporarilyUnavailable)
        #expect(try await codes(container) == [.accountTemporarilyUnavailable])
        // Unlocked, it goes on.
        accounts.signIn(ann.account)
        #expect(try await codes(container) != [.accountTemporarilyUnavailable])
        #expect(try container.userRecordID() == ann.container.userRecordID())
    }

    /// The server refuses the login for now.
    @Test func aLoginThatTheServerDoesNotAcceptIsTemporary() async throws {
        let ann = try await Person()
        let (device, network) = try ann.behindAttacker()
        network.lie { path, _, response in
            guard path.hasSuffix("accounts/login") else { return }
            response = TransportResponse(
                status: 401, body: try Sealkit_V1_Failure(.notAuthenticated, "not now").serializedData())
        }
        let accounts = AccountProvider()
        let container = try container(accounts)
        accounts.signIn(device.account)
        #expect(try await container.accountStatus() == .temporarilyUnavailable)
        #expect(try await codes(container) == [.accountTemporarilyUnavailable])
    }

    /// The server was started again between the two, and knows nothing of the challenge that it gave.
    @Test func aChallengeThatIsGoodNoMoreIsAskedForAnew() async throws {
        let ann = try await Person()
        let (device, network) = try ann.behindAttacker()
        let logins = Mutex(0)
        network.lie { path, _, response in
            guard path.hasSuffix("accounts/login") else { return }
            let count = logins.withLock { count in
                count += 1
                return count
            }
            guard count == 1 else { return }
            response = TransportResponse(
                status: 401, body: try Sealkit_V1_Failure(.notAuthenticated, "not one that I gave").serializedData())
        }
        let accounts = AccountProvider()
        let container = try container(accounts)
        accounts.signIn(device.account)
        #expect(try await container.accountStatus() == .available)
        #expect(logins.withLock { $0 } == 2)
    }

    /// It has another name than it is reached by, so that its logins are signed for somebody else: its name may be
    /// mended any moment.
    @Test func aServerOfAnotherNameIsTemporaryAndEndsNoStream() async throws {
        let ann = try await Person()
        let other = try #require(URL(string: server.origin)?.port.map { "http://localhost:\($0)" })
        let accounts = AccountProvider()
        let container = try container(accounts)
        accounts.signIn(try Account(seeds: ann.account.seeds, transport: HTTPTransport(server: other)))
        #expect(try await container.accountStatus() == .temporarilyUnavailable)
        #expect(try await codes(container) == [.accountTemporarilyUnavailable])

        let (told, tell) = AsyncStream<SealKitError?>.makeStream()
        let stream = container.notifications { tell.yield($0) }
        let reading = Task {
            do { for try await _ in stream {} } catch { tell.yield(error as? SealKitError) }
            tell.finish()
        }
        var all = told.makeAsyncIterator()
        let away = try #require(await all.next() ?? nil)
        #expect(away.code == .accountTemporarilyUnavailable, "\(away)")
        #expect(away.reason.contains("calls itself \(server.origin)"), "\(away)")
        reading.cancel()
        // The stream has waited until then.
        #expect(await all.next() == nil)
    }

    @Test func aServerThatCannotBeReachedLeavesTheStatusOpen() async throws {
        let own = try ServerProcess(mail: false)
        let ann = try await Person(own)
        #expect(try await ann.container.accountStatus() == .available)
        own.stop()
        #expect(try await ann.container.accountStatus() == .couldNotDetermine)
        // The account is known all the same: the call says what really stands in its way.
        #expect(await failure { _ = try await ann.own.allRecordZones() } == .networkFailure)
    }

    /// What was for one account does nothing for the next.
    @Test func databasesBelongToTheAccountThatTheyWereTakenFor() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let accounts = AccountProvider()
        let container = try container(accounts)
        let before = container.privateDatabase
        accounts.signIn(ann.account, trust: ann.container.core.trust)
        #expect(await failure { _ = try await before.allRecordZones() } == .notAuthenticated)
        let anns = container.privateDatabase
        let zone = try await anns.save(RecordZone(zoneName: "zone-\(UUID().uuidString.prefix(8))")).zoneID
        #expect(try container.userRecordID() == ann.container.userRecordID())

        accounts.signIn(bob.account)
        #expect(try container.userRecordID() == bob.container.userRecordID())
        #expect(await failure { _ = try await anns.allRecordZones() } == .notAuthenticated)
        #expect(await failure { try await anns.save(ann.note(in: zone, "must not reach Bob")) } == .notAuthenticated)
        #expect(await failure { _ = try await container.privateDatabase.recordZone(for: zone) } == .zoneNotFound)

        accounts.signIn(ann.account, trust: ann.container.core.trust)
        #expect(try await container.privateDatabase.recordZone(for: zone).zoneID == zone)
    }

    @Test func callsUnderWayEndWhenTheAccountGoes() async throws {
        let ann = try await Person()
        let gate = HoldingTransport(try HTTPTransport(server: server.origin), holding: "rosters/fetch")
        let zone = try await ann.makeZone()
        let accounts = AccountProvider()
        let container = try container(accounts)
        accounts.signIn(try Account(seeds: ann.account.seeds, transport: gate))
        let database = container.privateDatabase
        let task = Task { await failure { try await database.save(ann.note(in: zone, "late", name: "late")) } }
        await gate.reached()
        accounts.signOut()
        gate.open()
        #expect(await task.value == .notAuthenticated)
        #expect(
            await failure { _ = try await ann.own.record(for: Record.ID(recordName: "late", zoneID: zone)) }
                == .unknownItem)
    }

    @Test func changesAreTold() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let accounts = AccountProvider()
        let container = try container(accounts)
        let changes = container.accountChanges
        let posted = Mutex(0)
        let observer = NotificationCenter.default.addObserver(forName: .accountChanged, object: nil, queue: nil) { _ in
            posted.withLock { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(observer) }

        accounts.signIn(ann.account)
        accounts.lock()
        accounts.lock()
        accounts.signIn(ann.account)
        accounts.signIn(bob.account)
        accounts.signOut()
        accounts.signOut()
        accounts.restrict()
        var told: [AccountChange] = []
        for await change in changes {
            told.append(change)
            if told.count == 6 { break }
        }
        #expect(
            told == [
                .signIn, .statusChanged(.temporarilyUnavailable), .statusChanged(.available), .switchAccounts, .signOut,
                .statusChanged(.restricted),
            ])
        #expect(posted.withLock { $0 } >= 6)
    }

    /// What the server says of the account counts too: here it loses the account, with its whole folder.
    @Test func aStatusThatTheServerChangesIsTold() async throws {
        let own = try ServerProcess(mail: false)
        let port = try #require(URL(string: own.origin)?.port)
        let ann = try await Person(own)
        let changes = ann.container.accountChanges
        #expect(try await ann.container.accountStatus() == .available)
        own.stop()
        let empty = try ServerProcess(port: port, mail: false)
        defer { empty.stop() }
        #expect(try await ann.container.accountStatus() == .noAccount)
        for await change in changes {
            #expect(change == .statusChanged(.noAccount))
            break
        }
        #expect(await failure { _ = try await ann.own.modifyRecords() } == .notAuthenticated)
    }
}
