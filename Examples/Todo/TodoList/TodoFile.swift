import Foundation
import SealKit

/// All that the app keeps, in one file that is replaced as a whole: what is to be done, what the server knows of it,
/// and how far the engine is. In one file these cannot disagree: a device that stops anywhere goes on from what was
/// true together.
struct TodoFile: Codable {
    /// By record name.
    var items: [String: TodoItem] = [:]
    /// Which version of an item's record this device has seen: what its next save follows.
    var systemFields: [String: Data] = [:]
    /// What the server has not been told of, or not been heard to have taken: also what was removed. The engine has its
    /// own list of that, in its state; but the state is told after the change was made, and a device may stop in
    /// between.
    var unsent: Set<String> = []
    /// The user wanted the list gone everywhere, and it was not made again since. Files of before have nothing of it.
    var isPurged: Bool?
    var engineState: SyncEngine.State.Serialization?

    static func read(_ url: URL) throws -> TodoFile {
        guard FileManager.default.fileExists(atPath: url.path) else { return TodoFile() }
        return try JSONDecoder().decode(TodoFile.self, from: Data(contentsOf: url))
    }

    /// Titles stand in it as they are: for nobody but its user.
    func write(to url: URL) throws {
        try JSONEncoder().encode(self).write(to: url, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }
}
