import Foundation
import NIOCore
import SealEnvelope
import SealLab
import Synchronization

@testable import SealKit

/// A network that a device has or has not.
final class SwitchedTransport: Transport {
    private let next: any Transport
    private let isOn = Mutex(true)
    private let failures = Mutex<[(suffix: String, error: SealKitError)]>([])
    private let answersToLose = Mutex(0)
    private let made = Mutex<[String]>([])
    private let waiting = Mutex<[(suffix: String, times: Int, continuation: CheckedContinuation<Void, Never>)]>([])
    var origin: String { next.origin }

    init(_ next: any Transport) { self.next = next }

    func turn(on: Bool) { isOn.withLock { $0 = on } }
    /// The next call of such a path is answered so.
    func fail(_ suffix: String, _ error: SealKitError) { failures.withLock { $0.append((suffix, error)) } }
    /// So many answers to changes of zones and records do not come: the server has made the changes all the same.
    func loseAnswers(_ count: Int) { answersToLose.withLock { $0 = count } }
    /// Nothing is in the way of the next call.
    var isOnline: Bool {
        isOn.withLock { $0 } && answersToLose.withLock { $0 == 0 } && failures.withLock { $0.isEmpty }
    }
    /// Every path that was called, in order.
    var calls: [String] { made.withLock { $0 } }

    /// Returns when such a path was called as often, from now on or before.
    func called(_ suffix: String, times: Int) async {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0.append((suffix, times, continuation)) }
            resumeWhoWaitsNoMore()
        }
    }

    private func resumeWhoWaitsNoMore() {
        let calls = calls
        let over = waiting.withLock { waiting in
            let isOver = { (one: (suffix: String, times: Int, continuation: CheckedContinuation<Void, Never>)) in
                calls.count { $0.hasSuffix(one.suffix) } >= one.times
            }
            defer { waiting.removeAll(where: isOver) }
            return waiting.filter(isOver).map(\.continuation)
        }
        for continuation in over { continuation.resume() }
    }

    private func check(_ path: String) throws(SealKitError) {
        made.withLock { $0.append(path) }
        resumeWhoWaitsNoMore()
        guard isOn.withLock({ $0 }) else { throw SealKitError(.networkFailure, "the device is offline") }
        let failure = failures.withLock { failures -> SealKitError? in
            guard let index = failures.firstIndex(where: { path.hasSuffix($0.suffix) }) else { return nil }
            return failures.remove(at: index).error
        }
        if let failure { throw failure }
    }

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        try check(path)
        let response = try await next.post(path, body: body, token: token)
        guard path.hasSuffix("records/modify") || path.hasSuffix("zones/modify") else { return response }
        let isLost = answersToLose.withLock { count in
            defer { count = max(0, count - 1) }
            return count > 0
        }
        if isLost { throw SealKitError(.serverResponseLost, "the test lost the answer") }
        return response
    }

    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        try check(path)
        return try await next.get(path, token: token)
    }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        try check(path)
        return try await next.upload(path, length: length, parts: parts, token: token)
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try check(path)
        try await next.download(path, range: range, token: token, consume: consume)
    }

    func events(
        _ path: String, token: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try check(path)
        try await next.events(path, token: token, lastEventID: lastEventID, consume: consume)
    }
}

/// What an app keeps on a device, through all of its crashes: its notes, each a set of words, and its engine's state.
final class SyncDisk: Sendable {
    struct Note: Sendable, Equatable {
        var words: Set<String>
        var systemFields: Data?
        /// Not all of it is on the server.
        var isDirty = true
    }

    struct Content: Sendable {
        var zones: Set<RecordZone.ID> = []
        var notes: [Record.ID: Note] = [:]
        var deleted: Set<Record.ID> = []
        var deletedZones: Set<RecordZone.ID> = []
        var state: Data?
    }

    let content = Mutex(Content())
    /// Words that the server has acknowledged, by note.
    let acknowledged = Mutex<[Record.ID: Set<String>]>([:])

    /// Those of the account that was signed in so far.
    func takeAcknowledged() -> [Record.ID: Set<String>] {
        acknowledged.withLock { acknowledged in
            defer { acknowledged = [:] }
            return acknowledged
        }
    }

    var notes: [Record.ID: Set<String>] { content.withLock { $0.notes.mapValues(\.words) } }
    var state: SyncEngine.State.Serialization? {
        get throws {
            guard let data = content.withLock({ $0.state }) else { return nil }
            return try JSONDecoder().decode(SyncEngine.State.Serialization.self, from: data)
        }
    }
}

/// An app that syncs notes, as an app's author would write it. Conflicts are merged: a note has the words of both.
final class SyncApp: SyncEngineDelegate {
    let disk: SyncDisk
    private let log = Mutex(Log())

    private struct Log {
        var events: [String] = []
        var handled: [SyncEngine.Event] = []
        /// The app is gone when it has been told as many events more; nil for never.
        var eventsToLive: Int?
        var isAlive = true
        var waiting: [(isMet: @Sendable (SyncEngine.Event) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
            []
    }

    init(disk: SyncDisk) { self.disk = disk }

    /// What was told, by name and a few words each.
    var events: [String] { log.withLock { $0.events } }
    var isAlive: Bool { log.withLock { $0.isAlive } }
    var handledEvents: [SyncEngine.Event] { log.withLock { $0.handled } }
    func forgetEvents() { log.withLock { ($0.events, $0.handled) = ([], []) } }
    func die(after events: Int) { log.withLock { $0.eventsToLive = events } }

    /// Returns when such an event was told and handled, from now on or before.
    func told(_ isMet: @escaping @Sendable (SyncEngine.Event) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = log.withLock { log in
                if log.handled.contains(where: isMet) { return true }
                log.waiting.append((isMet, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    // MARK: What the user does

    func write(_ word: String, to id: Record.ID, _ engine: SyncEngine) {
        disk.content.withLock { disk in
            disk.notes[id, default: SyncDisk.Note(words: [])].words.insert(word)
            disk.notes[id]?.isDirty = true
            disk.deleted.remove(id)
        }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    func delete(_ id: Record.ID, _ engine: SyncEngine) {
        disk.content.withLock { disk in
            disk.notes[id] = nil
            disk.deleted.insert(id)
        }
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
    }

    func make(_ zone: RecordZone.ID, _ engine: SyncEngine) {
        disk.content.withLock { disk in
            disk.zones.insert(zone)
            disk.deletedZones.remove(zone)
        }
        engine.state.add(pendingDatabaseChanges: [.saveZone(RecordZone(zoneID: zone))])
    }

    func delete(_ zone: RecordZone.ID, _ engine: SyncEngine) {
        forget(zone, engine)
        _ = disk.content.withLock { $0.deletedZones.insert(zone) }
        engine.state.add(pendingDatabaseChanges: [.deleteZone(zone)])
    }

    /// After a crash: the engine's state may be older than what the app has kept.
    func addWhatIsUnsent(to engine: SyncEngine) {
        let (changes, zones) = disk.content.withLock { disk in
            let saves = disk.notes.filter(\.value.isDirty).keys.map {
                SyncEngine.PendingRecordZoneChange.saveRecord($0)
            }
            return (saves + disk.deleted.map { .deleteRecord($0) }, disk.deletedZones)
        }
        engine.state.add(pendingDatabaseChanges: zones.map { .deleteZone($0) })
        engine.state.add(pendingRecordZoneChanges: changes)
    }

    // MARK: What the engine tells and asks

    func handleEvent(_ event: SyncEngine.Event, syncEngine engine: SyncEngine) async {
        let isAlive = log.withLock { log -> Bool in
            if let left = log.eventsToLive {
                log.eventsToLive = left - 1
                if left <= 0 { log.isAlive = false }
            }
            if log.isAlive { log.events.append(event.summary) }
            return log.isAlive
        }
        guard isAlive else { return }
        switch event {
        case .stateUpdate(let update):
            let data = try? JSONEncoder().encode(update.stateSerialization)
            disk.content.withLock { $0.state = data }
        case .accountChange(let change): accountChanged(change.changeType, engine)
        case .fetchedDatabaseChanges(let changes): take(changes, engine)
        case .fetchedRecordZoneChanges(let changes): take(changes, engine)
        case .sentRecordZoneChanges(let sent): take(sent, engine)
        case .sentDatabaseChanges(let sent): disk.content.withLock { $0.deletedZones.subtract(sent.deletedZoneIDs) }
        case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges, .didFetchChanges,
            .willSendChanges, .didSendChanges:
            break
        }
        let met = log.withLock { log in
            log.handled.append(event)
            defer { log.waiting.removeAll { $0.isMet(event) } }
            return log.waiting.filter { $0.isMet(event) }.map(\.continuation)
        }
        for continuation in met { continuation.resume() }
    }

    func nextRecordZoneChangeBatch(
        _ context: SyncEngine.SendChangesContext, syncEngine engine: SyncEngine
    ) async -> SyncEngine.RecordZoneChangeBatch? {
        guard isAlive else { return nil }
        let pending = engine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
        return await SyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
            guard let note = disk.content.withLock({ $0.notes[id] }) else {
                engine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
                return nil
            }
            var record =
                note.systemFields.flatMap { try? Record(systemFields: $0) } ?? Record(recordType: "Note", recordID: id)
            record.encryptedValues["words"] = note.words.sorted()
            return record
        }
    }

    private func accountChanged(_ change: SyncEngine.Event.AccountChange.ChangeType, _ engine: SyncEngine) {
        switch change {
        case .signIn: break
        case .signOut, .switchAccounts:
            disk.content.withLock { ($0.notes, $0.deleted, $0.deletedZones) = ([:], [], []) }
        }
        guard case .signOut = change else {
            for zone in disk.content.withLock({ $0.zones }) {
                engine.state.add(pendingDatabaseChanges: [.saveZone(RecordZone(zoneID: zone))])
            }
            return addWhatIsUnsent(to: engine)
        }
    }

    private func take(_ changes: SyncEngine.Event.FetchedDatabaseChanges, _ engine: SyncEngine) {
        for zone in changes.modifications { _ = disk.content.withLock { $0.zones.insert(zone.zoneID) } }
        for deletion in changes.deletions {
            guard deletion.reason == .encryptedDataReset else {
                forget(deletion.zoneID, engine)
                continue
            }
            // What is on this device is all there is: it goes up again, as if it were new.
            disk.content.withLock { disk in
                for id in disk.notes.keys where id.zoneID == deletion.zoneID {
                    disk.notes[id]?.systemFields = nil
                    disk.notes[id]?.isDirty = true
                }
            }
            engine.state.add(pendingDatabaseChanges: [.saveZone(RecordZone(zoneID: deletion.zoneID))])
            addWhatIsUnsent(to: engine)
        }
    }

    private func forget(_ zone: RecordZone.ID, _ engine: SyncEngine) {
        let changes = disk.content.withLock { disk in
            let ids = disk.notes.keys.filter { $0.zoneID == zone } + disk.deleted.filter { $0.zoneID == zone }
            for id in ids { disk.notes[id] = nil }
            disk.deleted.subtract(ids)
            disk.zones.remove(zone)
            disk.deletedZones.remove(zone)
            return ids.flatMap { [SyncEngine.PendingRecordZoneChange.saveRecord($0), .deleteRecord($0)] }
        }
        engine.state.remove(pendingRecordZoneChanges: changes)
        engine.state.remove(pendingDatabaseChanges: [.saveZone(RecordZone(zoneID: zone))])
    }

    private func take(_ changes: SyncEngine.Event.FetchedRecordZoneChanges, _ engine: SyncEngine) {
        for modification in changes.modifications { merge(modification.record, engine) }
        for deletion in changes.deletions {
            disk.content.withLock { disk in
                disk.notes[deletion.recordID] = nil
                disk.deleted.remove(deletion.recordID)
            }
            engine.state.remove(pendingRecordZoneChanges: [
                .saveRecord(deletion.recordID), .deleteRecord(deletion.recordID),
            ])
        }
    }

    /// What the server has and what is here.
    private func merge(_ record: Record, _ engine: SyncEngine) {
        let words = Set(record.encryptedValues["words"] as [String]? ?? [])
        let id = record.recordID
        let isDirty = disk.content.withLock { disk -> Bool in
            guard !disk.deleted.contains(id) else { return false }
            var note = disk.notes[id] ?? SyncDisk.Note(words: [], isDirty: false)
            note.words = note.isDirty ? note.words.union(words) : words
            note.isDirty = note.words != words
            note.systemFields = record.encodeSystemFields()
            disk.notes[id] = note
            return note.isDirty
        }
        if isDirty {
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        } else if !disk.content.withLock({ $0.deleted.contains(id) }) {
            engine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
        }
    }

    private func take(_ sent: SyncEngine.Event.SentRecordZoneChanges, _ engine: SyncEngine) {
        for record in sent.savedRecords {
            let id = record.recordID
            let words = Set(record.encryptedValues["words"] as [String]? ?? [])
            disk.acknowledged.withLock { $0[id, default: []].formUnion(words) }
            disk.content.withLock { disk in
                disk.notes[id]?.systemFields = record.encodeSystemFields()
                if disk.notes[id]?.words == words { disk.notes[id]?.isDirty = false }
            }
        }
        for id in sent.deletedRecordIDs { _ = disk.content.withLock { $0.deleted.remove(id) } }
        for failed in sent.failedRecordSaves {
            let id = failed.record.recordID
            switch failed.error.code {
            case .serverRecordChanged: if let server = failed.error.serverRecord { merge(server, engine) }
            case .zoneNotFound:
                disk.content.withLock { $0.notes[id]?.systemFields = nil }
                make(id.zoneID, engine)
                engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
            case .unknownItem:
                disk.content.withLock { $0.notes[id]?.systemFields = nil }
                engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
            case .userDeletedZone: forget(id.zoneID, engine)
            default: break
            }
        }
        for (id, error) in sent.failedRecordDeletes where !error.isRetriedBySyncEngine {
            _ = disk.content.withLock { $0.deleted.remove(id) }
        }
    }
}

extension SyncEngine.Event {
    /// Why all of something, or single zones and changes, failed.
    fileprivate var failures: [SealKitError] {
        switch self {
        case .didFetchRecordZoneChanges(let zone): zone.error.map { [$0] } ?? []
        case .didFetchChanges(let end): end.error.map { [$0] } ?? []
        case .didSendChanges(let end): end.error.map { [$0] } ?? []
        case .fetchedRecordZoneChanges(let changes): changes.unopened.map(\.error)
        case .sentDatabaseChanges(let sent): sent.failedZoneSaves.map(\.error) + sent.failedZoneDeletes.values
        case .sentRecordZoneChanges(let sent):
            sent.failedRecordSaves.map(\.error) + sent.failedShareSaves.map(\.error) + sent.failedRecordDeletes.values
        case .stateUpdate, .accountChange, .willFetchChanges, .fetchedDatabaseChanges, .willFetchRecordZoneChanges,
            .willSendChanges:
            []
        }
    }

    /// Its name, and what tells it from others of the name.
    var summary: String {
        switch self {
        case .stateUpdate: "stateUpdate"
        case .accountChange(let change):
            switch change.changeType {
            case .signIn: "signIn"
            case .signOut: "signOut"
            case .switchAccounts: "switchAccounts"
            }
        case .willFetchChanges: "willFetch"
        case .fetchedDatabaseChanges(let changes):
            "zones \(changes.modifications.map(\.zoneID.zoneName).sorted()) \(changes.deletions.map { "\($0.zoneID.zoneName): \($0.reason)" }.sorted())"
        case .willFetchRecordZoneChanges(let zone): "willFetch \(zone.zoneID.zoneName)"
        case .fetchedRecordZoneChanges(let changes):
            "records \(changes.modifications.map(\.record.recordID.recordName)) \(changes.deletions.map(\.recordID.recordName))"
        case .didFetchRecordZoneChanges(let zone):
            "didFetch \(zone.zoneID.zoneName)" + (zone.error.map { " \($0.code)" } ?? "")
        case .didFetchChanges(let end): "didFetch" + (end.error.map { " \($0.code)" } ?? "")
        case .willSendChanges: "willSend"
        case .sentDatabaseChanges(let sent):
            "sentZones \(sent.savedZones.map(\.zoneID.zoneName)) \(sent.deletedZoneIDs.map(\.zoneName))"
                + (sent.failedZoneSaves.map { " \($0.zone.zoneID.zoneName): \($0.error.code)" }
                + sent.failedZoneDeletes.map { " \($0.key.zoneName): \($0.value.code)" }).joined()
        case .sentRecordZoneChanges(let sent):
            "sent \(sent.savedRecords.map(\.recordID.recordName)) \(sent.deletedRecordIDs.map(\.recordName))"
                + (sent.failedRecordSaves.map { " \($0.record.recordID.recordName): \($0.error.code)" }
                + sent.failedRecordDeletes.map { " \($0.key.recordName): \($0.value.code)" }).joined()
        case .didSendChanges(let end): "didSend" + (end.error.map { " \($0.code)" } ?? "")
        }
    }
}

/// One device of a person's: its disk, what it has verified, its network, and the app that runs on it.
final class SyncDevice: @unchecked Sendable {
    // Unchecked: used by one task.
    let disk = SyncDisk()
    let transport: SwitchedTransport
    let accounts = AccountProvider()
    let container: Container
    let pacing = FakePacing()
    private(set) var app: SyncApp
    private(set) var engine: SyncEngine

    /// - Parameters:
    ///   - signedIn: false for a device on which nobody is.
    ///   - network: what is between the device and the server.
    init(
        _ person: Person, scope: Database.Scope = .private, signedIn: Bool = true,
        network: (HTTPTransport) -> any Transport = { $0 }
    ) throws {
        transport = SwitchedTransport(network(try HTTPTransport(server: person.server.origin)))
        container = try Container(person.container.containerIdentifier, accounts: accounts)
        self.scope = scope
        app = SyncApp(disk: disk)
        engine = try SyncEngine(SyncDevice.configuration(container, scope, app, nil), pacing: pacing.pacing)
        if signedIn { try signIn(person) }
    }

    private let scope: Database.Scope
    private var trusts: [String: (TrustStore, Account)] = [:]

    private static func configuration(
        _ container: Container, _ scope: Database.Scope, _ app: SyncApp, _ state: SyncEngine.State.Serialization?
    ) -> SyncEngine.Configuration {
        var configuration = SyncEngine.Configuration(
            container: container, databaseScope: scope, stateSerialization: state, delegate: app)
        configuration.automaticallySync = false
        return configuration
    }

    /// With what the device has verified as that person.
    /// - Parameter lost: whose keys were all lost, so that the person made this account.
    func signIn(_ person: Person, replacing lost: Person? = nil) throws {
        let known =
            try trusts[person.name]
            ?? {
                let client = Client(transport: transport, pacing: pacing.pacing)
                return (try TrustStore(), try Account(seeds: person.account.seeds, client: client))
            }()
        trusts[person.name] = known
        accounts.signIn(known.1, trust: known.0, replacing: lost.map { [Record.ID(recordName: $0.name)] } ?? [])
    }

    /// The app begins again from what is on the disk.
    /// - Parameter addsWhatIsUnsent: whether the app notes anew what it has to send, which a state that is older than
    ///   the notes may lack.
    func restart(addsWhatIsUnsent: Bool = true) throws {
        app.die(after: 0)
        app = SyncApp(disk: disk)
        engine = try SyncEngine(SyncDevice.configuration(container, scope, app, try disk.state), pacing: pacing.pacing)
        if addsWhatIsUnsent { app.addWhatIsUnsent(to: engine) }
    }

    /// The app begins again from the engine's newest state, when it has been told that: nothing that is to be sent is
    /// noted anew.
    func restartFromNewestState() async throws {
        // The state that the app's own additions lead to comes by a task of its own.
        let end = ContinuousClock.now + .seconds(30)
        while try !isStateKept, app.isAlive, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(1)) }
        let isKept = try isStateKept
        if !isKept, app.isAlive { surprises.append("what is to be sent is not told as the engine's state") }
        try restart(addsWhatIsUnsent: !isKept)
    }

    /// Whether all that the engine has to send is on the disk.
    private var isStateKept: Bool {
        get throws {
            let kept = try disk.state?.content
            return (kept?.records.all ?? []) == engine.state.pendingRecordZoneChanges
                && (kept?.database.all ?? []) == engine.state.pendingDatabaseChanges
        }
    }

    /// Whether the device has something of a note that it may still send.
    func isUnsent(_ id: Record.ID) -> Bool {
        disk.content.withLock { $0.notes[id]?.isDirty ?? false }
            || engine.state.pendingRecordZoneChanges.contains(.saveRecord(id))
    }

    // MARK: Syncing

    /// What failed though nothing was in the way, and is not to be explained by what other devices did.
    private(set) var surprises: [String] = []

    /// Others have changed or deleted something meanwhile; each of several failures is looked at by itself.
    private static let explained: Set<SealKitError.Code> = [
        .partialFailure, .serverRecordChanged, .unknownItem, .zoneNotFound, .userDeletedZone,
    ]

    /// Does something that may fail, and notes what it should not have failed with.
    func attempt(_ what: String, _ body: (SyncEngine) async throws -> Void) async {
        let isOnline = transport.isOnline
        let before = app.handledEvents.count
        var failures: [any Error] = []
        do { try await body(engine) } catch { failures.append(error) }
        guard isOnline else { return }
        for event in app.handledEvents.dropFirst(before) { failures += event.failures as [any Error] }
        for failure in failures {
            if let error = failure as? SealKitError, Self.explained.contains(error.code) { continue }
            surprises.append("\(what): \(failure)")
        }
    }

    func fetch() async { await attempt("a fetch") { try await $0.fetchChanges() } }
    func send() async { await attempt("a send") { try await $0.sendChanges() } }

    /// Fetches and sends, whatever comes of it.
    func sync() async {
        await fetch()
        await send()
    }

    func note(_ name: String, in zone: RecordZone.ID) -> Record.ID { Record.ID(recordName: name, zoneID: zone) }
}
