import Foundation
import SealKit

/// The list on one device, which works without a network and is kept in step with the account's other devices.
///
/// It is the sync engine's delegate: what the user does goes into the app's own file first and to the engine after;
/// what the engine tells goes into the file before `handleEvent` returns (`TodoList+Events.swift`).
public actor TodoList {
    static let zone = RecordZone(zoneName: "todos")

    let file: URL
    var kept: TodoFile
    var engine: SyncEngine?
    /// What the user has to hear of and the next sync does not mend by itself: since the last time that it was asked
    /// for.
    var problems: [String] = []
    private var listeners: [UUID: AsyncStream<Void>.Continuation] = [:]

    /// - Throws: what the system says of a file that cannot be read, or is damaged.
    public init(file: URL) throws {
        self.file = file
        kept = try TodoFile.read(file)
    }

    // MARK: What the user does

    /// As they are shown: what is to be done first, and by title.
    public var items: [(name: String, item: TodoItem)] {
        kept.items.map { (name: $0.key, item: $0.value) }.sorted { one, other in
            (one.item.isDone.value ? 1 : 0, one.item.title.value, one.name) < (
                other.item.isDone.value ? 1 : 0, other.item.title.value, other.name
            )
        }
    }

    @discardableResult
    public func add(_ title: String, at time: Date = Date()) throws -> String {
        let name = UUID().uuidString
        try change(name) { $0 = TodoItem(title: title, at: time) }
        return name
    }

    public func rename(_ name: String, to title: String, at time: Date = Date()) throws {
        try change(name) { $0?.title = TodoItem.Field(title, changed: time) }
    }

    public func setDone(_ name: String, _ isDone: Bool = true, at time: Date = Date()) throws {
        try change(name) { $0?.isDone = TodoItem.Field(isDone, changed: time) }
    }

    public func remove(_ name: String) throws { try change(name) { $0 = nil } }

    /// The app's own file first; then the engine, which sends it when it can.
    private func change(_ name: String, _ edit: (inout TodoItem?) -> Void) throws {
        var next = kept
        edit(&next.items[name])
        next.unsent.insert(name)
        try next.write(to: file)
        kept = next
        if let engine { makeZoneAgain(engine) }
        engine?.state.add(pendingRecordZoneChanges: [pendingChange(of: name)])
        tell()
    }

    // MARK: Syncing

    /// Once, when the app starts. Until then everything works, and nothing is sent.
    /// - Parameter automatically: the engine fetches and sends by itself from now on, while the app runs.
    public func start(_ container: Container, automatically: Bool) throws(SealKitError) {
        var configuration = SyncEngine.Configuration(
            container: container, databaseScope: .private, stateSerialization: kept.engineState, delegate: self)
        configuration.automaticallySync = automatically
        let engine = try SyncEngine(configuration)
        self.engine = engine
        makeZoneAgain(engine)
        // The state may be older than the items: it is told last.
        engine.state.add(pendingRecordZoneChanges: kept.unsent.map(pendingChange))
    }

    /// Fetches, then sends; once more where what was sent met another device's change and was merged with it.
    /// - Returns: what the user has to hear of.
    /// - Throws: what keeps all of it from happening: no network, nobody signed in. What was to be sent waits for the
    ///   next time.
    public func sync() async throws(SealKitError) -> [String] {
        guard let engine else { return takeProblems() }
        for attempt in 1... {
            do {
                try await engine.fetchChanges()
                try await engine.sendChanges()
                break
            } catch {
                // Each item's own error was told to `handleEvent`, which has put it right or noted it.
                guard error.code == .partialFailure else { throw error }
                if attempt == 3 { break }
            }
        }
        return takeProblems()
    }

    public func takeProblems() -> [String] {
        defer { problems = [] }
        return problems
    }

    /// Tells each time that something has changed, here or by another device.
    public func changes() -> AsyncStream<Void> {
        let id = UUID()
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            listeners[id] = continuation
            continuation.onTermination = { _ in Task { await self.forget(id) } }
        }
    }

    private func forget(_ id: UUID) { listeners[id] = nil }

    func tell() { for listener in listeners.values { listener.yield() } }

    // MARK: For the engine

    func recordID(_ name: String) -> Record.ID { Record.ID(recordName: name, zoneID: Self.zone.zoneID) }

    func pendingChange(of name: String) -> SyncEngine.PendingRecordZoneChange {
        kept.items[name] == nil ? .deleteRecord(recordID(name)) : .saveRecord(recordID(name))
    }
}
