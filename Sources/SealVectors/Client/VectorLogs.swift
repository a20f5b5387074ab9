import SealStatements
import SealVectorChecks

/// Logs of one scope, each but the first given by where it parts from that.
struct VectorLogs {
    private var entries: [String: [SignedRosterEntry]] = [:]
    private var logs: [String: JSON] = [:]
    private let trunk: String

    init(_ name: String, _ entries: [SignedRosterEntry]) {
        trunk = name
        self.entries[name] = entries
        logs[name] = .object(["entries": .entries(entries)])
    }

    mutating func add(_ name: String, _ entries: [SignedRosterEntry]) {
        let known = self.entries[trunk] ?? []
        let count = zip(known, entries).prefix { $0 == $1 }.count
        self.entries[name] = entries
        logs[name] = .object([
            "partsFrom": .string(trunk), "at": .int(count), "entries": .entries(Array(entries[count...])),
        ])
    }

    subscript(name: String) -> [SignedRosterEntry] { entries[name] ?? [] }

    var json: JSON { .object(logs) }

    /// Entries of a log; all where nothing else is said.
    func page(_ log: String, from first: Int = 0, count: Int? = nil) -> [String: JSON] {
        ["log": .string(log), "from": .int(first), "count": .int(count ?? self[log].count - first)]
    }
}
