import SealStatements
import SealStorage
import SealWire

/// What is stored above and below the records of one save. Each record is read once, whatever asks for it, and so many
/// only that no hierarchy, however deep, keeps other writers waiting.
package final class StoredParents {
    struct Place {
        let parent: String?
        /// A share's number, or 0.
        let share: Int64
    }

    private let zone: ZoneRow
    private let connection: any SQLConnection
    private var places: [String: Place?] = [:]
    private var children: [String: (names: [String], areAll: Bool)] = [:]
    private var climbed = 0

    init(in zone: ZoneRow, _ connection: any SQLConnection) {
        (self.zone, self.connection) = (zone, connection)
    }

    /// So many records above those of one save are looked at: ten times as deep a hierarchy as anybody has, in less
    /// time than a full batch takes to write.
    package static let mostClimbed = 10_000

    static let tooDeep = ServerError(
        .limitExceeded,
        "More than \(mostClimbed) records are above those that the request gives another parent, or shares.",
        remedy: "Send fewer at once, or choose parents that are not as deep.")

    /// Whether there is a live record of this name.
    static func isLive(_ name: String, in zone: ZoneRow, _ connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM record WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
            zone.key + [.text(name)])
    }

    /// Where a live record is; nil for one that there is not.
    func place(of name: String) throws -> Place? {
        if let known = places[name] { return known }
        let found = try connection.first(
            "SELECT parent, share FROM record WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
            zone.key + [.text(name)]
        ) { Place(parent: try $0.optionalText("parent"), share: try $0.int64("share")) }
        places.updateValue(found, forKey: name)
        return found
    }

    /// The same on the way up from a record of the save.
    /// - Throws: `limitExceeded`.
    func climb(to name: String) throws -> Place? {
        if let known = places[name] { return known }
        climbed += 1
        guard climbed <= Self.mostClimbed else { throw Self.tooDeep }
        return try place(of: name)
    }

    /// Whether a record has a live child of some kind. Rows are read up to the first such child.
    func hasChild(_ name: String, where isWanted: (String) -> Bool = { _ in true }) throws -> Bool {
        if let known = children[name] {
            if known.names.contains(where: isWanted) { return true }
            if known.areAll { return false }
        }
        var names: [String] = []
        var isFound = false
        try connection.stream(
            "SELECT name FROM record WHERE owner = $1 AND zone = $2 AND parent = $3 AND deleted = 0",
            zone.key + [.text(name)]
        ) { row in
            let child = try row.text("name")
            names.append(child)
            isFound = isWanted(child)
            return !isFound
        }
        children[name] = (names, areAll: !isFound)
        return isFound
    }
}
