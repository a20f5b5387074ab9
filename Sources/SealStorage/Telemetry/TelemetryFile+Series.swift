import GRDB

/// Words, each combination of them once. They have a bound, and so has what is new of one day: words that somebody
/// makes up do not take all of the room at once.
extension TelemetryFile {
    /// Of the file's limit so much for each series.
    private static let bytesPerSeries: Int64 = 20 << 10
    /// Series that become part of others in one sweep.
    private static let mostFolded: Int64 = 4_096

    private static func mostSeries(limit: Int64) -> Int64 { limit / bytesPerSeries }

    /// For how many new series there is room.
    struct SeriesRooms: Sendable {
        /// The last day that something was written on.
        private var day: Int64?
        /// Of that day: half of what was free when it began, so that no number of days takes all of it.
        private var leftOfDay: Int64 = 0
        /// The last series that was there when it began.
        private var lastBefore: Int64 = 0
        private var left: Int64 = 0
        /// Containers that were there when the day began; nil until somebody asks.
        private var containers: Set<String>?

        /// At the beginning of each write.
        /// - Parameters:
        ///   - limit: of the file, in bytes.
        ///   - now: seconds since 1970.
        mutating func begin(limit: Int64, now: Int64, _ database: Database) throws {
            let count = try Int64.fetchOne(database, sql: "SELECT COUNT(*) FROM series") ?? 0
            left = max(0, TelemetryFile.mostSeries(limit: limit) - count)
            containers = nil
            let today = Step.day.start(of: now)
            guard day != today else { return }
            (day, leftOfDay) = (today, left / 2)
            lastBefore = try Int64.fetchOne(database, sql: "SELECT MAX(id) FROM series") ?? 0
        }

        /// Whether there is room for one more with all its words, which it takes then.
        fileprivate mutating func take() -> Bool {
            guard leftOfDay > 0, takeAny() else { return false }
            leftOfDay -= 1
            return true
        }

        /// The same for one of a container that was there before today, by the server's words alone.
        fileprivate mutating func takeAny() -> Bool {
            guard left > 0 else { return false }
            left -= 1
            return true
        }

        fileprivate mutating func isFamiliar(_ container: String, _ database: Database) throws -> Bool {
            if let containers { return containers.contains(container) }
            let found = try String.fetchSet(
                database, sql: "SELECT DISTINCT container FROM series WHERE id <= ?", arguments: [lastBefore])
            containers = found
            return found.contains(container)
        }
    }

    /// The row of a key's words, or of fewer of them where there is no room: a container that is not of today is told
    /// apart longer than what its clients say of themselves, so that a new error of an app is seen as the app's.
    static func series(_ key: TelemetryKey, _ rooms: inout SeriesRooms, _ database: Database) throws -> Int64 {
        if let known = try find(key, database) { return known }
        if rooms.take() { return try insert(key, database) }
        if try rooms.isFamiliar(key.container, database) {
            let fewer = key.withoutClient
            if let known = try find(fewer, database) { return known }
            if rooms.takeAny() { return try insert(fewer, database) }
        }
        return try find(key.folded, database) ?? insert(key.folded, database)
    }

    private static func arguments(_ key: TelemetryKey) -> StatementArguments {
        [
            key.kind.rawValue, key.operation, key.container, key.environment, key.database, key.client, key.group,
            key.code,
        ]
    }

    private static func find(_ key: TelemetryKey, _ database: Database) throws -> Int64? {
        let find = try database.cachedStatement(
            sql: """
                SELECT id FROM series WHERE kind = ? AND operation = ? AND container = ? AND environment = ?
                    AND database = ? AND client = ? AND group_name = ? AND code = ?
                """)
        return try Int64.fetchOne(find, arguments: arguments(key))
    }

    private static func insert(_ key: TelemetryKey, _ database: Database) throws -> Int64 {
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO series (kind, operation, container, environment, database, client, group_name, code)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try insert.execute(arguments: arguments(key))
        return database.lastInsertedRowID
    }

    // MARK: What goes

    /// It reads all three tables.
    static func removeUnusedSeries(_ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM series WHERE id NOT IN (SELECT series FROM sums UNION SELECT series FROM log)")
    }

    /// Where less than a quarter of the room is free, series that were met the longest ago become part of those with
    /// fewer words, with all that was counted of them: so there is room for what is new.
    /// - Parameters:
    ///   - limit: of the file, in bytes.
    ///   - now: seconds since 1970.
    static func foldSeries(limit: Int64, now: Int64, _ database: Database) throws {
        let count = try Int64.fetchOne(database, sql: "SELECT COUNT(*) FROM series") ?? 0
        let excess = count - mostSeries(limit: limit) / 4 * 3
        guard excess > 0 else { return }
        let day = Step.day.rawValue
        let found = try Row.fetchAll(
            database,
            sql: """
                SELECT s.id, s.kind, s.operation, s.container, s.environment, s.database, s.client, s.group_name, s.code
                FROM sums m JOIN series s ON s.id = m.series
                WHERE m.step = ?1 AND (s.container NOT IN ('', ?2) OR s.client NOT IN ('', ?2)
                    OR s.group_name NOT IN ('', ?2))
                GROUP BY s.id HAVING MAX(m.start) < ?3 ORDER BY MAX(m.start) LIMIT ?4
                """, arguments: [day, TelemetryKey.other, now - 2 * day, min(excess, mostFolded)])
        guard !found.isEmpty else { return }
        try database.execute(sql: "CREATE TEMP TABLE folding (id INTEGER PRIMARY KEY, target INTEGER NOT NULL)")
        for row in found {
            guard let id = row[0] as Int64?, let key = TelemetryKey(row) else { continue }
            let fewer = key.withoutClient == key ? key.folded : key.withoutClient
            let target = try find(fewer, database) ?? insert(fewer, database)
            try database.execute(sql: "INSERT INTO folding VALUES (?, ?)", arguments: [id, target])
        }
        // A target may be one of those that go as well: then its turn comes in another sweep.
        try database.execute(sql: "DELETE FROM folding WHERE id IN (SELECT target FROM folding)")
        try moveSums(database)
        try database.execute(
            sql: """
                UPDATE log SET series = (SELECT f.target FROM folding f WHERE f.id = log.series)
                WHERE series IN (SELECT id FROM folding);
                DELETE FROM series WHERE id IN (SELECT id FROM folding);
                DROP TABLE folding;
                """)
    }

    /// A stretch at a time: a sum takes some kilobytes in memory.
    private static func moveSums(_ database: Database) throws {
        let stretches = try Row.fetchAll(
            database, sql: "SELECT DISTINCT step, start FROM sums WHERE series IN (SELECT id FROM folding)")
        for stretch in stretches {
            guard let number = stretch[0] as Int64?, let step = Step(rawValue: number),
                let start = stretch[1] as Int64?
            else { continue }
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT \(TelemetrySum.columns), f.target FROM sums m JOIN folding f ON f.id = m.series
                    WHERE m.step = ? AND m.start = ?
                    """, arguments: [number, start])
            var sums: [Int64: TelemetrySum] = [:]
            while let row = try rows.next() {
                guard let target = row[7] as Int64? else { continue }
                sums[target, default: TelemetrySum()].add(TelemetrySum(row))
            }
            try database.execute(
                sql: "DELETE FROM sums WHERE step = ? AND start = ? AND series IN (SELECT id FROM folding)",
                arguments: [number, start])
            for (series, sum) in sums { try add(sum, of: series, step, at: start, database) }
        }
    }
}

extension TelemetryKey {
    /// What clients say of themselves is told apart no more.
    fileprivate var withoutClient: TelemetryKey {
        var fewer = folded
        fewer.container = container
        return fewer
    }

    /// Of a row with a series' id and its words; nil for a kind that is none.
    fileprivate init?(_ row: Row) {
        guard let number = row[1] as Int64?, let kind = Kind(rawValue: number) else { return nil }
        func text(_ index: Int) -> String { (row[index] as String?) ?? "" }
        self.init(
            kind: kind, operation: text(2), container: text(3), environment: text(4), database: text(5),
            client: text(6), group: text(7), code: text(8))
    }
}
