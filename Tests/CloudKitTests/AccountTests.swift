import CloudKit
import Testing

@Suite(.timeLimit(.minutes(60))) struct AccountTests {
    @Test func databasesOfOneContainerAreOne() async throws {
        try await Cloud.run { cloud in
            let container = try await cloud.container(of: "ann")
            #expect(container.database(with: .private) == container.privateCloudDatabase)
            #expect(container.privateCloudDatabase != container.sharedCloudDatabase)
            #expect(Set([container.privateCloudDatabase, container.database(with: .private)]).count == 1)
        }
    }

    /// What apps keep their flags with.
    @Test func userDefaultsTakeValues() {
        let key = UUID().uuidString
        defer { UserDefaults.standard.removeObject(forKey: key) }
        UserDefaults.standard.setValue(3, forKey: key)
        #expect(UserDefaults.standard.value(forKey: key) as? Int == 3)
        UserDefaults.standard.setValue(nil, forKey: key)
        #expect(UserDefaults.standard.value(forKey: key) == nil)
    }

    @Test func statusAndName() async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let container = device.container
            #expect(try await container.accountStatus() == .available)
            let name = try await container.userRecordID()
            #expect(name.recordName.isEmpty == false)
            let told = await withCheckedContinuation { done in
                container.fetchUserRecordID { id, error in done.resume(returning: (id, error as? CKError)) }
            }
            #expect(told.0 == name)
            #expect(told.1 == nil)
            let status = await withCheckedContinuation { done in
                container.accountStatus { status, _ in done.resume(returning: status) }
            }
            #expect(status == .available)
        }
    }

    /// Semantics 1 and 2: by what the account is, even where there is nothing to do.
    @Test func withoutAnAccountEveryCallFails() async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            let database = device.container.privateCloudDatabase
            device.lock()
            #expect(try await device.container.accountStatus() == .temporarilyUnavailable)
            await expectFailure(.accountTemporarilyUnavailable) { _ = try await database.allRecordZones() }
            device.signOut()
            #expect(try await device.container.accountStatus() == .noAccount)
            await expectFailure(.notAuthenticated) { _ = try await database.records(for: []) }
            await expectFailure(.notAuthenticated) { _ = try await database.modifyRecords(saving: [], deleting: []) }
            await expectFailure(.notAuthenticated) { _ = try await database.recordZones(for: []) }
            await expectFailure(.notAuthenticated) { _ = try await database.databaseChanges(since: nil) }
        }
    }

    /// An app that keeps a database in a property goes on with the account that is signed in.
    @Test func aDatabaseFollowsTheAccount() async throws {
        try await Cloud.run { cloud in
            let (ann, bob) = (try await cloud.device(of: "ann"), try await cloud.device(of: "bob"))
            let database = ann.container.privateCloudDatabase
            try await database.save(CKRecordZone(zoneName: "Anns"))
            ann.signIn(as: bob)
            try await database.save(CKRecordZone(zoneName: "Bobs"))
            #expect(try await database.allRecordZones().map(\.zoneID.zoneName).contains("Anns") == false)
            ann.signIn()
            let names = try await database.allRecordZones().map(\.zoneID.zoneName)
            #expect(names.contains("Anns"))
            #expect(names.contains("Bobs") == false)
        }
    }

    @Test func changesArePosted() async throws {
        try await Cloud.run { cloud in
            let device = try await cloud.device(of: "ann")
            _ = try await device.container.accountStatus()
            let posted = Posted()
            device.signOut()
            await posted.first()
            #expect(Notification.Name.CKAccountChanged.rawValue == "CKAccountChangedNotification")
        }
    }

    /// In a process of its own: what a process was told is told once, and other tests ask operations for its default.
    @Test func containersOfOneIdentifierAreOne() async throws {
        await #expect(processExitsWith: .success) {
            try await Cloud.run { cloud in
                let device = try await cloud.device(of: "ann")
                CKContainer.configure(device.setup)
                CKContainer.configure(device.setup)
                #expect(CKContainer.default() == CKContainer(identifier: "org.example.app"))
                #expect(CKContainer.default() != CKContainer(identifier: "org.example.other"))
                #expect(CKContainer.default().containerIdentifier == "org.example.app")
                let zones = try await CKContainer.default().privateCloudDatabase.allRecordZones()
                #expect(zones.map(\.zoneID) == [.default])
            }
        }
    }

    @Test func whoSpeaksAfterTheFirstContainerIsStopped() async throws {
        let ended = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await Cloud.run { cloud in
                let ann = try await cloud.device(of: "ann")
                let bob = try await cloud.device(of: "bob")
                CKContainer.configure(ann.setup)
                CKContainer.configure(bob.setup)
            }
        }
        let told = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
        #expect(told.contains("CKContainer.configure has to come before the first container"))
    }
}

/// Waits for a notice that comes once this was made.
private final class Posted: Sendable {
    private let stream: AsyncStream<Void>

    init() {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        self.stream = stream
        _ = NotificationCenter.default.addObserver(forName: .CKAccountChanged, object: nil, queue: nil) { _ in
            continuation.yield()
        }
    }

    func first() async { for await _ in stream { return } }
}
