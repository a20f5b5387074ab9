import CloudKit

/// All that the app keeps, in one file that is replaced as a whole, so that notes, what the server knows of them and
/// how far the engine is cannot disagree.
struct NotesFile: Codable {
    /// By record name.
    var notes: [String: Note] = [:]
    /// Which version of a note's record this device has seen: what its next save follows.
    var systemFields: [String: Data] = [:]
    /// What the server has not been heard to have taken, also what was removed.
    var unsent: Set<String> = []
    var engineState: CKSyncEngine.State.Serialization?

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
}
