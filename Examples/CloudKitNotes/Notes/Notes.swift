import CloudKit

/// The notes on one device: they work without a network, and are kept in step with the account's other devices.
///
/// It is the sync engine's delegate: what the user does goes into the app's own file first and to the engine after;
/// what the engine tells goes into the file before `handleEvent` returns (`Notes+Events.swift`).
public actor Notes {
    public static let containerIdentifier = "iCloud.org.example.notes"
    static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    let file: URL
    var kept: NotesFile
    private var engine: CKSyncEngine?
    /// What the user has to hear of and the next sync does not mend by itself.
    var problems: [String] = []
    private var listeners: [UUID: AsyncStream<Void>.Continuation] = [:]

    /// - Throws: what the system says of a file that cannot be read, or is damaged.
    public init(file: URL) throws {
        self.file = file
        kept = try NotesFile.read(file)
    }

    // MARK: What the user does

    /// The newest first.
    public var all: [(name: String, note: Note)] {
        kept.notes.map { (name: $0.key, note: $0.value) }
            .sorted { ($0.note.changed, $0.name) > ($1.note.changed, $1.name) }
    }

    @discardableResult
    public func add(_ text: String, at time: Date = Date()) throws -> String {
        let name = UUID().uuidString
        try change(name) { $0 = Note(text: text, changed: time) }
        return name
    }

    /// A note that is not there any more is left alone.
    public func edit(_ name: String, _ text: String, at time: Date = Date()) throws {
        try change(name) { if $0 != nil { $0 = Note(text: text, changed: time) } }
    }

    public func remove(_ name: String) throws { try change(name) { $0 = nil } }

    private func change(_ name: String, _ body: (inout Note?) -> Void) throws {
        var next = kept
        body(&next.notes[name])
        guard next.notes[name] != kept.notes[name] else { return }
        next.unsent.insert(name)
        try next.write(to: file)
        kept = next
        engine?.state.add(pendingRecordZoneChanges: [pendingChange(of: name)])
        tell()
    }

    // MARK: Syncing

    /// Once, when the app starts. Until then everything works, and nothing is sent.
    /// - Parameters:
    ///   - database: the container's private one.
    ///   - automatically: the engine fetches and sends by itself from now on, while the app runs.
    public func start(_ database: CKDatabase, automatically: Bool) {
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: kept.engineState, delegate: self)
        configuration.automaticallySync = automatically
        let engine = CKSyncEngine(configuration)
        self.engine = engine
        // The state may be older than the notes: it is told last.
        engine.state.add(pendingRecordZoneChanges: kept.unsent.map(pendingChange))
    }

    /// Fetches, then sends; once more where what was sent met another device's change and was merged with it.
    /// - Returns: what the user has to hear of.
    /// - Throws: what keeps all of it from happening: no network, nobody signed in. What was to be sent waits for the
    ///   next time.
    public func sync() async throws -> [String] {
        guard let engine else { return takeProblems() }
        for attempt in 1...3 {
            do {
                try await engine.fetchChanges()
                try await engine.sendChanges()
                break
            } catch {
                // Each note's own error was told to `handleEvent`, which has put it right or noted it.
                guard (error as? CKError)?.code == .partialFailure else { throw error }
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

    func pendingChange(of name: String) -> CKSyncEngine.PendingRecordZoneChange {
        let id = CKRecord.ID(recordName: name, zoneID: Self.zoneID)
        return kept.notes[name] == nil ? .deleteRecord(id) : .saveRecord(id)
    }

    /// The note's record as it is to be saved; nil for one that was removed since.
    func record(_ id: CKRecord.ID) -> CKRecord? {
        guard let note = kept.notes[id.recordName] else { return nil }
        let record =
            kept.systemFields[id.recordName].flatMap { CKRecord.from(systemFields: $0) }
            ?? CKRecord(recordType: Note.recordType, recordID: id)
        note.write(to: record)
        return record
    }
}
