import SealKit
import Synchronization

/// What the user calls people, for whatever shows a person or takes one. Set once, when a command opens its account.
enum PeopleNames {
    private static let names = Mutex<LocalNames?>(nil)

    static func know(_ names: LocalNames) { self.names.withLock { $0 = names } }

    /// - Returns: nil for somebody without a name.
    static func name(_ recordName: String) -> String? { names.withLock { $0?[Record.ID(recordName: recordName)] } }

    /// Whom somebody means who has typed a name, or whatever else stands for a person, which is left as it is.
    static func recordName(_ typed: String) -> String {
        names.withLock { $0?.userRecordID(named: typed)?.recordName } ?? typed
    }

    /// The same text, with the name behind each id that has one.
    fileprivate static func named(_ text: String) -> String {
        guard let names = names.withLock({ $0 }), !names.isEmpty else { return text }
        var text = text
        for id in names.userRecordIDs {
            guard let name = names[id] else { continue }
            text = text.split(separator: id.recordName, omittingEmptySubsequences: false)
                .joined(separator: "\(id.recordName) (\(name.escaped))")
        }
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
