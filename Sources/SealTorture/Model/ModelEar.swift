import SealKit
import SealLab
import SealQuery
import SealStatements

/// What one device has to be told, and what it is told.
struct ModelEar {
    struct Subject: Hashable, CustomStringConvertible {
        let subscription: String
        let zone: String
        var record: String?
        var description: String { "\(subscription): \(zone)\(record.map { "/" + $0 } ?? "")" }
    }

    /// Everybody has one: a change there comes after all that was to be told before.
    static let zone = "bell"
    /// What the query subscription fires for.
    private static let loud = 500

    private let container: Container
    /// Another device of the same person.
    let bell: Database
    private var lastID: String?
    /// Of changes by other devices since it last listened.
    private var due: Set<Subject> = []
    /// Of what came or went with zones and people, which may be told or not.
    private var allowed: Set<Subject> = []

    /// A person's subscriptions are the same on all devices.
    static func subscribe(_ person: Int, _ container: Container) async throws {
        try await container.privateDatabase.save(RecordZone(zoneName: zone))
        try await container.privateDatabase.save(DatabaseSubscription(subscriptionID: "own"))
        guard person == 0 else {
            try await container.sharedDatabase.save(DatabaseSubscription(subscriptionID: "shared"))
            return
        }
        try await container.privateDatabase.save(
            QuerySubscription(
                recordType: "Note",
                predicate: Query.Predicate([.init(.compare("a", .greaterOrEqual, loud.recordValue))]),
                subscriptionID: "loud"))
    }

    init(_ device: ModelDevice, bell: Database) async throws {
        container = device.container
        self.bell = bell
        // The stream's first word says from where on it tells.
        for try await notification in container.notifications() {
            lastID = notification.id
            break
        }
    }

    // MARK: In the model

    /// - Parameters:
    ///   - isOwn: this device did it, so that it is not told.
    ///   - person: whose device it is.
    mutating func expect(_ news: ModelStore.News, isOwn: Bool, person: Int, canSee: Bool) {
        let subject = Subject(subscription: person == 0 ? "own" : "shared", zone: news.zone)
        guard let (name, stored) = news.record else {
            // What was to be told of a zone that went, or that somebody left, need not be told any more.
            allowed.insert(subject)
            for former in due where former.zone == news.zone && !canSee {
                due.remove(former)
                allowed.insert(former)
            }
            return
        }
        guard !isOwn, canSee else { return }
        due.insert(subject)
        if person == 0, stored.type == "Note", let number = stored.fields["a"], number >= Self.loud {
            due.insert(Subject(subscription: "loud", zone: news.zone, record: name))
        }
    }

    // MARK: On the stream

    /// Listens until the bell, which has been rung.
    mutating func listen() async throws {
        let (container, after) = (container, lastID)
        let bell = Subject(subscription: "own", zone: Self.zone)
        let (told, lastID) = try await patiently("a notification") {
            var told: Set<Subject> = []
            var lastID = after
            for try await notification in container.notifications(after: after) {
                if let id = notification.id { lastID = id }
                switch notification.content {
                case .ready: continue
                case .reset: throw Finding("notifications were dropped though there are few")
                case .fired(let fired):
                    let subject = Subject(
                        subscription: fired.subscriptionID, zone: fired.zoneID.zoneName,
                        record: fired.recordID?.recordName)
                    try check(told.insert(subject).inserted, "\(subject) is told twice")
                    if subject == bell { return (told, lastID) }
                    if subject.zone == ModelRun.hierarchyZone { told.remove(subject) }
                }
            }
            throw Finding("the stream ends")
        }
        let missed = due.subtracting(told)
        let invented = told.subtracting(due).subtracting(allowed).subtracting([bell])
        try check(missed.isEmpty, "is not told of \(missed.map(\.description).sorted())")
        try check(invented.isEmpty, "is told of \(invented.map(\.description).sorted())")
        self.lastID = lastID
        (due, allowed) = ([], [])
    }
}

extension ModelRun {
    /// Notes what every device has to be told of what one of them did just now.
    mutating func tell(from device: Int) {
        for news in store.takeNews() where news.zone != Self.hierarchyZone {
            for index in ears.indices {
                let person = devices[index].person
                ears[index].expect(
                    news, isOwn: index == device, person: person,
                    canSee: store.permission(of: person, in: news.zone) != nil)
            }
        }
    }

    mutating func listen(_ device: Int) async throws {
        doing = "device \(device) listens"
        let id = Record.ID(recordName: "ring", zoneID: RecordZone.ID(zoneName: ModelEar.zone))
        _ = try await ears[device].bell.modifyRecords(
            saving: [Record(recordType: "Note", recordID: id)], savePolicy: .allKeys)
        if devices[device].person == 0 { store.touch(ModelEar.zone) }
        try await ears[device].listen()
        count(.notifications)
    }
}
