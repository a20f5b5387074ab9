import Foundation
import SealKit
import SealLab
import SealQuery

/// A device that changes nothing and listens: across all crashes it is told of every change, of none that did not
/// happen, and of none once more after it went on from where it was.
actor Watcher {
    /// What a notification is about: a zone, or a record where a query subscription fired.
    private struct Subject: Hashable {
        let zone: String
        var record: String?
    }

    static let markerZone = "marker"
    private let container: Container
    /// Another device, which saves what the watcher knows to come last.
    private let marker: Database
    /// The zones as they were when all that had changed had been told.
    private var states: [String: Feed.State]
    private var lastID: String?
    private var ids: Set<String> = []
    private var told: [Subject: Int] = [:]
    /// Told since the last id. What changed together has one id, which comes with the last of it: a stream that was cut
    /// before begins with all of it again.
    private var unfinished: [Subject] = []
    /// Told of something since it caught up.
    private(set) var isTold = false

    init(_ container: Container, marker: Database, zones: [RecordZone.ID]) async throws {
        self.container = container
        self.marker = marker
        states = Dictionary(uniqueKeysWithValues: zones.map { ($0.zoneName, Feed.State()) })
        try await marker.save(RecordZone(zoneName: Self.markerZone))
        // The schema has to know the type.
        try await marker.save(Self.mark(0))
        try await container.privateDatabase.save(DatabaseSubscription(subscriptionID: "zones"))
        try await container.privateDatabase.save(
            QuerySubscription(recordType: "Note", predicate: .constant(true), subscriptionID: "records"))
        // The stream's first word says from where on it tells.
        for try await notification in container.notifications() {
            lastID = notification.id
            break
        }
    }

    private static func mark(_ round: Int) -> Record {
        Record(
            recordType: "Note",
            recordID: Record.ID(recordName: "round-\(round)", zoneID: RecordZone.ID(zoneName: markerZone)))
    }

    /// Takes down what is told; for ever, or until a record's change is.
    private func listen(until last: Subject?) async throws {
        for subject in unfinished { told[subject, default: 1] -= 1 }
        unfinished = []
        for try await notification in container.notifications(after: lastID) {
            if let id = notification.id { lastID = id }
            switch notification.content {
            case .ready: continue
            case .reset: throw Finding("notifications were dropped though there are few")
            case .fired(let fired):
                if let id = notification.id { try check(ids.insert(id).inserted, "the notification \(id) came twice") }
                let subject = Subject(zone: fired.zoneID.zoneName, record: fired.recordID?.recordName)
                told[subject, default: 0] += 1
                isTold = true
                if notification.id == nil { unfinished.append(subject) } else { unfinished = [] }
                if subject == last { return }
            }
        }
    }

    /// Until it is cancelled.
    /// - Throws: `Finding`, also where the stream ends: while a server is away it is to come again by itself.
    func listen() async throws(Finding) {
        do { try await listen(until: nil) } catch let finding as Finding { throw finding } catch {
            guard !Task.isCancelled else { return }
            throw Finding("a stream of notifications has ended: \(error)")
        }
        try check(Task.isCancelled, "a stream of notifications has ended")
    }

    /// Goes on from where it was until everything is told that has changed up to now, while nobody writes.
    /// - Returns: how many changed records it was told of.
    func catchUp(round: Int, _ feed: Feed) async throws -> Int {
        let last = Self.mark(round)
        try await marker.save(last)
        try await patiently("a notification") {
            try await self.listen(until: Subject(zone: Self.markerZone, record: last.recordID.recordName))
        }
        defer { (told, isTold) = ([:], false) }
        var count = 0
        for (zone, state) in states {
            let changed = try await feed.changes(in: zone, since: state.token, limit: 0)
            let names = Set(told.compactMap { $0.key.zone == zone && $0.value > 0 ? $0.key.record : nil })
            let missed = Set(changed.items.keys).subtracting(names)
            let invented = names.subtracting(changed.items.keys)
            try check(missed.isEmpty, "changes were not told: \(missed.sorted().prefix(5))")
            try check(invented.isEmpty, "told as changed, and were not: \(invented.sorted().prefix(5))")
            for (name, item) in changed.items {
                let changes = item.revision - (state.items[name]?.revision ?? 0)
                let times = told[Subject(zone: zone, record: name)] ?? 0
                try check(times <= changes, "\(name) was told \(times) times for \(changes) changes")
            }
            try check(
                (told[Subject(zone: zone)] != nil) == !changed.items.isEmpty,
                "a change in zone \(zone) was not told, or none was")
            states[zone] = Feed.State(items: state.items.merging(changed.items) { $1 }, token: changed.token)
            count += names.count
        }
        return count
    }
}
