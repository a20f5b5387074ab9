import Foundation
import SealKit

/// A to-do list that works without a network, and is kept in step with the account's other devices.
actor Todos {
    /// All that the app keeps, in one file: so that its parts cannot disagree.
    private struct Kept: Codable {
        var texts: [Record.ID: String] = [:]
        /// Which version of each record this device has seen.
        var systemFields: [Record.ID: Data] = [:]
        /// What the server has not taken yet, deletions too.
        var unsent: Set<Record.ID> = []
        var state: SyncEngine.State.Serialization?
    }

    private var kept = Kept()
    private let file: URL
    private let zone = RecordZone(zoneName: "todos")

    init(file: URL) throws {
        self.file = file
        if FileManager.default.fileExists(atPath: file.path) {
            kept = try JSONDecoder().decode(Kept.self, from: Data(contentsOf: file))
        }
    }

    private func write() throws { try JSONEncoder().encode(kept).write(to: file, options: .atomic) }

    var texts: [String] { kept.texts.values.sorted() }

    /// What the user does goes into the app's own file first.
    @discardableResult
    func set(_ text: String?, of id: Record.ID? = nil) throws -> Record.ID {
        let id = id ?? Record.ID(zoneID: zone.zoneID)
        kept.texts[id] = text
        kept.unsent.insert(id)
        try write()
        return id
    }
}
