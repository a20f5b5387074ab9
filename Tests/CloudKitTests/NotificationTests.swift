@testable import CloudKit
import Synchronization
import Testing

/// Notifications, from the server's event stream to the object that an app reads.
@Suite(.timeLimit(.minutes(60))) struct NotificationTests {
    /// What a handler was told, to be waited for.
    private final class Told: Sendable {
        private let all = Mutex<[CKNotification]>([])

        func note(_ userInfo: [AnyHashable: Any]) {
            guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else { return }
            all.withLock { $0.append(notification) }
        }

        func first<Kind: CKNotification>(_ kind: Kind.Type) async throws -> Kind {
            try await eventually { self.all.withLock { $0.lazy.compactMap { $0 as? Kind }.first } }
        }

        var count: Int { all.withLock { $0.count } }
    }

    @Test func fromAnotherDevice() async throws {
        try await Cloud.run { cloud in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            let phone = try await cloud.device(of: "ann")
            var setup = phone.setup
            setup.stateFolder = folder
            let container = CKContainer(identifier: "org.example.app", setup: setup)
            let zone = try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
            let seed = CKRecord.note("seed", in: zone.zoneID)
            seed["title"] = "seed"
            try await container.privateCloudDatabase.save(seed)
            let query = CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "query",
                options: [.firesOnRecordCreation])
            query.notificationInfo = CKSubscription.NotificationInfo(
                alertBody: "new", title: "Notes", desiredKeys: ["title"], shouldBadge: true)
            try await container.privateCloudDatabase.modifySubscriptions(saving: [
                CKDatabaseSubscription(subscriptionID: "all"),
                CKRecordZoneSubscription(zoneID: zone.zoneID, subscriptionID: "zone"), query,
            ])
            let told = Told()
            container.remoteNotificationHandler = { told.note($0) }
            defer { container.remoteNotificationHandler = nil }
            #expect(container.remoteNotificationHandler != nil)
            let laptop = try await phone.another(named: "laptop").container
            // Until the stream is open nothing is told: what was done before is not to be missed by this test.
            var number = 0
            while told.count == 0, number < 600 {
                number += 1
                let note = CKRecord.note("note\(number)", in: zone.zoneID)
                note["title"] = "title"
                try await laptop.privateCloudDatabase.save(note)
                try await Task.sleep(for: .milliseconds(50))
            }
            let fired = try await told.first(CKQueryNotification.self)
            #expect(fired.notificationType == .query)
            #expect(fired.subscriptionID == "query")
            #expect(fired.queryNotificationReason == .recordCreated)
            #expect(fired.recordID?.zoneID == zone.zoneID)
            #expect(fired.recordFields?["title"] as? String == "title")
            #expect(fired.databaseScope == .private)
            #expect(fired.alertBody == "new")
            #expect(fired.title == "Notes")
            #expect(fired.badge == 1)
            #expect(fired.isPruned == false)
            #expect(fired.containerIdentifier == "org.example.app")
            let user = try await container.userRecordID()
            #expect(fired.subscriptionOwnerUserRecordID == user)
            let ofZone = try await told.first(CKRecordZoneNotification.self)
            #expect(ofZone.recordZoneID == zone.zoneID)
            #expect(ofZone.databaseScope == .private)
            let ofDatabase = try await told.first(CKDatabaseNotification.self)
            #expect(ofDatabase.subscriptionID == "all")
            #expect(ofDatabase.databaseScope == .private)

            // Where it was is kept, for nobody else to read.
            let file = folder.appendingPathComponent(PushPositions.fileName)
            _ = try await eventually { FileManager.default.contents(atPath: file.path) }
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let place = "org.example.app development \(user.recordName)"
            #expect(PushPositions(folder)[place] != nil)
        }
    }

    /// Of two apps that share the file, each goes on where it was.
    @Test func appsOfOneAccountKeepTheirPositionsTogether() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (one, other) = (PushPositions(folder), PushPositions(folder))
        one.keep("100", for: "one")
        other.keep("5", for: "other")
        one.keep("101", for: "one")
        let later = PushPositions(folder)
        #expect(later["one"] == "101")
        #expect(later["other"] == "5")
    }

    /// A file of positions that says nothing: everything may have changed, which an app is told once.
    @Test func damagedPositionsMeanThatAllMayHaveChanged() async throws {
        try await Cloud.run { cloud in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try Data("not JSON".utf8).write(to: folder.appendingPathComponent(PushPositions.fileName))
            var setup = try await cloud.device(of: "ann").setup
            setup.stateFolder = folder
            let container = CKContainer(identifier: "org.example.app", setup: setup)
            let scopes = Log()
            container.remoteNotificationHandler = { userInfo in
                let told = CKDatabaseNotification(fromRemoteNotificationDictionary: userInfo)
                scopes.note("\(told?.databaseScope.rawValue ?? 0) \(told?.subscriptionID == nil)")
            }
            _ = try await eventually { scopes.all.count < 3 ? nil : true }
            container.remoteNotificationHandler = nil
            #expect(scopes.all == ["2 true", "3 true", "1 true"])
        }
    }

    /// Nobody has signed a notification: what is none gives nothing, and ends nothing.
    @Test func whatIsNoNotification() {
        let zone: [AnyHashable: Any] = ["sid": "a", "dbs": 2, "zid": "Notes"]
        let good: [AnyHashable: Any] = ["ck": ["cid": "org.example.app", "fet": zone] as [AnyHashable: Any]]
        let read = CKNotification(fromRemoteNotificationDictionary: good)
        #expect((read as? CKRecordZoneNotification)?.recordZoneID == CKRecordZone.ID(zoneName: "Notes"))
        #expect(CKQueryNotification(fromRemoteNotificationDictionary: good) == nil)
        let bad: [[AnyHashable: Any]] = [
            [:], ["ck": "text"], ["ck": [:] as [AnyHashable: Any]],
            ["ck": ["met": ["dbs": 9] as [AnyHashable: Any]] as [AnyHashable: Any]],
            ["ck": ["met": ["dbs": "2"] as [AnyHashable: Any]] as [AnyHashable: Any]],
            ["ck": ["fet": ["dbs": 2] as [AnyHashable: Any]] as [AnyHashable: Any]],
            ["ck": ["qry": ["dbs": 2, "fo": 7] as [AnyHashable: Any]] as [AnyHashable: Any]],
            ["aps": ["alert": "hello"] as [AnyHashable: Any]],
        ]
        for dictionary in bad {
            #expect(CKNotification(fromRemoteNotificationDictionary: dictionary) == nil, "\(dictionary)")
        }
    }
}
