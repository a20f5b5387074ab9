import SealKit
import Synchronization

/// What the user calls people, for whatever shows a person or takes one. Set once, when a command opens its account.
enum PeopleNames {
    private static let names = Mutex<LocalNames?>(nil)
    private static let own = Mutex<String?>(nil)
    /// What the user is called among people.
    static let ownName = "you"

    /// - Parameter own: the user's own id, shown as `ownName`.
    static func know(_ names: LocalNames, own: String) {
        self.names.withLock { $0 = names }
        self.own.withLock { $0 = own }
    }

    /// - Returns: nil for somebody without a name.
    static func name(_ recordName: String) -> String? { names.withLock { $0?[Record.ID(recordName: recordName)] } }

    /// Whom somebody means who has typed a name, or whatever else stands for a person, which is left as it is.
    static func recordName(_ typed: String) -> String {
        names.withLock { $0?.userRecordID(named: typed)?.recordName } ?? typed
    }

    /// The same text, with the name behind each id that has one.
    fileprivate static func named(_ text: String) -> String {
        guard let names = names.withLock({ $0 }) else { return text }
        var text = text
        func put(_ name: String, behind id: String) {
            text = text.split(separator: id, omittingEmptySubsequences: false).joined(separator: "\(id) (\(name))")
        }
        for id in names.userRecordIDs { if let name = names[id] { put(name.escaped, behind: id.recordName) } }
        if let own = own.withLock({ $0 }) { put(ownName, behind: own) }
        return text
    }
}

extension String {
    /// With the name that the user has given them behind the ids of people.
    var withNames: String { PeopleNames.named(self) }
}

extension [String: JSONValue] {
    /// With the name of the person whose id is there, if the user has given one.
    func naming(_ person: String?, as key: String) -> [String: JSONValue] {
        guard let name = person.flatMap(PeopleNames.name) else { return self }
        return merging([key: .string(name)]) { $1 }
    }
}
