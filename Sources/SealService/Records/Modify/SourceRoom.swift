import SealStatements
import SealStorage
import SealWire

/// Whether targets have room for the records of one request that come to refer to them with `deleteSelf`.
///
/// Other writes wait while that is found out: a target's sources are counted in the index alone, no further than they
/// may be, and named only where there may be too many. How many are looked at is bounded over the whole request.
struct SourceRoom {
    private let zone: ZoneRow
    private let connection: any SQLConnection
    /// The targets that each record of the request will refer to, by its name; none for what is deleted.
    private let planned: [String: Set<String>]
    private var sources: [String: Sources] = [:]
    private var looks = 0

    private struct Sources {
        /// As they are stored: rows, until they are named. A record may refer to a target in several fields.
        var stored: Int
        var areNamed = false
        /// Of this request.
        var coming = 0

        var isFull: Bool { stored + coming >= DeleteReference.limit }
    }

    init(in zone: ZoneRow, planned: [String: Set<String>], _ connection: any SQLConnection) {
        (self.zone, self.planned, self.connection) = (zone, planned, connection)
    }

    /// Takes in a record that comes to refer to these targets.
    /// - Returns: why it cannot be; nil where it is.
    mutating func take(_ targets: Set<String>) throws -> ServerError? {
        var unknown = targets.filter { sources[$0] == nil }.sorted()[...]
        while !unknown.isEmpty {
            guard looks < Self.mostLooks else { return Self.tooManyLooks }
            try count(Array(unknown.prefix(Self.countedAtOnce)))
            unknown = unknown.dropFirst(Self.countedAtOnce)
        }
        for target in targets where sources[target]?.isFull ?? false && sources[target]?.areNamed == false {
            guard try name(target) else { return Self.tooManyLooks }
        }
        guard targets.allSatisfy({ sources[$0]?.isFull == false }) else { return DeleteReference.tooMany }
        for target in targets { sources[target]?.coming += 1 }
        return nil
    }

    /// Rows of the index: all that 130 targets may have.
    private static let mostLooks = 100_000
    private static let countedAtOnce = 64

    private static let tooManyLooks = ServerError(
        .limitExceeded,
        "More than \(mostLooks) references with deleteSelf lead to what the request's records refer to so.",
        remedy: "Send fewer records at once, or use references without an action.")

    private mutating func count(_ targets: [String]) throws {
        var counts = Array(repeating: 0, count: targets.count)
        try connection.runEach(
            """
            SELECT COUNT(*) AS count FROM (
                SELECT 1 AS one FROM delete_reference WHERE owner = $1 AND zone = $2 AND target = $3 LIMIT $4) AS some_rows
            """, targets.map { zone.key + [.text($0), .integer(Int64(DeleteReference.limit))] }
        ) { set, row in counts[set] = Int(try row.int64("count")) }
        for (target, count) in zip(targets, counts) { sources[target] = Sources(stored: count) }
        looks += counts.reduce(targets.count, +)
    }

    /// Counts each source once. Those of the request that will not refer there any more leave their places to others.
    /// - Returns: false for more than may be looked at.
    private mutating func name(_ target: String) throws -> Bool {
        let room = Self.mostLooks - looks
        var names: Set<String> = []
        var rows = 0
        try connection.run(
            "SELECT source FROM delete_reference WHERE owner = $1 AND zone = $2 AND target = $3 LIMIT $4",
            zone.key + [.text(target), .integer(Int64(max(room, 0)))]
        ) { row in
            names.insert(try row.text("source"))
            rows += 1
            return true
        }
        looks += rows
        guard rows < room else { return false }
        let stored = names.count { planned[$0]?.contains(target) ?? true }
        sources[target]?.stored = stored
        sources[target]?.areNamed = true
        return true
    }
}
