import CloudKit

/// The notes on one device: they work without a network, and are kept in step with the account's other devices, and
/// with the devices of those who share them.
///
/// It is the delegate of two sync engines, one for the notes of one's own and one for what others share: what the user
/// does goes into the app's own file first and to the engine after; what an engine tells goes into the file before
/// `handleEvent` returns (`Notes+Events.swift`).
public actor Notes {
    public static let containerIdentifier = "iCloud.org.example.notes"
    /// The notebook of whoever is signed in.
    public static let own = CKCurrentUserDefaultName

    static func zoneID(of owner: String) -> CKRecordZone.ID { CKRecordZone.ID(zoneName: "Notes", ownerName: owner) }

    let file: URL
    var kept: NotesFile
    private var engines: [CKDatabase.Scope: CKSyncEngine] = [:]
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
    public var all: [(id: NoteID, note: Note)] {
        kept.notebooks.flatMap { owner, notebook in
            notebook.notes.map { (id: NoteID(notebook: owner, name: $0.key), note: $0.value) }
        }.sorted { ($0.note.changed, $0.id.name) > ($1.note.changed, $1.id.name) }
    }

    /// Owners of the notebooks that others share.
    public var others: [String] { kept.notebooks.keys.filter { $0 != Self.own }.sorted() }

    @discardableResult
    public func add(_ text: String, to notebook: String = Notes.own, at time: Date = Date()) throws -> NoteID {
        let id = NoteID(notebook: notebook, name: UUID().uuidString)
        try change(id) { $0 = Note(text: text, changed: time) }
        return id
    }

    /// A note that is not there any more is left alone.
    public func edit(_ id: NoteID, _ text: String, at time: Date = Date()) throws {
        try change(id) { if $0 != nil { $0 = Note(text: text, changed: time) } }
    }

    public func remove(_ id: NoteID) throws { try change(id) { $0 = nil } }

    private func change(_ id: NoteID, _ body: (inout Note?) -> Void) throws {
        var next = kept
        body(&next[id])
        guard next[id] != kept[id] else { return }
        next.notebooks[id.notebook]?.unsent.insert(id.name)
        try keep(next)
        engine(for: id.notebook)?.state.add(pendingRecordZoneChanges: [pendingChange(of: id)])
    }

    /// - Throws: what the system says of a file that cannot be written: nothing has changed then.
    func keep(_ next: NotesFile) throws {
        try next.write(to: file)
        kept = next
        tell()
    }

    // MARK: Syncing

    /// Once, when the app starts. Until then everything works, and nothing is sent.
    /// - Parameter automatically: the engines fetch and send by themselves from now on, while the app runs.
    public func start(_ container: CKContainer, automatically: Bool) {
        for database in [container.privateCloudDatabase, container.sharedCloudDatabase] {
            var configuration = CKSyncEngine.Configuration(
                database: database, stateSerialization: kept.engineStates[database.databaseScope.rawValue],
                delegate: self)
            configuration.automaticallySync = automatically
            engines[database.databaseScope] = CKSyncEngine(configuration)
        }
        // Their states may be older than the notes: these are told last.
        for (owner, notebook) in kept.notebooks {
            engine(for: owner)?.state.add(
                pendingRecordZoneChanges: notebook.unsent.map { pendingChange(of: NoteID(notebook: owner, name: $0)) })
        }
    }

    /// Fetches, then sends; once more where what was sent met another device's change and was merged with it.
    /// - Returns: what the user has to hear of.
    /// - Throws: what keeps all of it from happening: no network, nobody signed in. What was to be sent waits for the
    ///   next time.
    public func sync() async throws -> [String] {
        for scope in [CKDatabase.Scope.private, .shared] {
            guard let engine = engines[scope] else { continue }
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

    // MARK: For the engines

    /// What others share is in the shared database, under their names.
    private func engine(for notebook: String) -> CKSyncEngine? { engines[notebook == Self.own ? .private : .shared] }

    func pendingChange(of id: NoteID) -> CKSyncEngine.PendingRecordZoneChange {
        kept[id] == nil ? .deleteRecord(id.recordID) : .saveRecord(id.recordID)
    }

    /// The note's record as it is to be saved; nil for one that was removed since.
    func record(_ recordID: CKRecord.ID) -> CKRecord? {
        let id = NoteID(recordID)
        guard let note = kept[id] else { return nil }
        let record =
            kept.notebooks[id.notebook]?.systemFields[id.name].flatMap { CKRecord.from(systemFields: $0) }
            ?? CKRecord(recordType: Note.recordType, recordID: recordID)
        note.write(to: record)
        return record
    }
}
