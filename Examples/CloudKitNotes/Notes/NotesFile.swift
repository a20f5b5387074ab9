import CloudKit

/// All that the app keeps, in one file that is replaced as a whole, so that notes, what the server knows of them and
/// how far the engines are cannot disagree.
struct NotesFile: Codable {
    /// One's own, and those that others share, by their owners' names.
    var notebooks: [String: Notebook] = [:]
    /// By the scope of the database that an engine is of.
    var engineStates: [Int: CKSyncEngine.State.Serialization] = [:]

    /// - Throws: what the system says of a file that cannot be read, or is damaged.
    static func read(_ url: URL) throws -> NotesFile {
        guard FileManager.default.fileExists(atPath: url.path) else { return NotesFile() }
        return try JSONDecoder().decode(NotesFile.self, from: Data(contentsOf: url))
    }

    /// Notes stand in it as they are: for nobody but its user.
    func write(to url: URL) throws {
        try JSONEncoder().encode(self).write(to: url, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }

    subscript(id: NoteID) -> Note? {
        get { notebooks[id.notebook]?.notes[id.name] }
        set { notebooks[id.notebook, default: Notebook()].notes[id.name] = newValue }
    }
}

/// The notes of one zone, which has its owner's name.
struct Notebook: Codable {
    /// By record name.
    var notes: [String: Note] = [:]
    /// Which version of a note's record this device has seen: what its next save follows.
    var systemFields: [String: Data] = [:]
    /// What the server has not been heard to have taken, also what was removed.
    var unsent: Set<String> = []
}
