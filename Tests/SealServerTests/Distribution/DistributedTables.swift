import Foundation

@testable import SealStorage

/// What `Examples/deploy/citus.sql` says of each table, and a database of partitions that is made of it: what
/// PostgreSQL does with a statement there tells how many nodes it would need.
struct DistributedTables {
    private static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples/deploy/citus.sql")
    /// Partitions of each table.
    static let parts = 8

    let script: String
    /// The column that a table is distributed by.
    let keys: [String: String]
    let everywhere: [String]
    /// With the reason.
    let onCoordinator: [String: String]

    init() throws {
        script = try String(contentsOf: Self.path, encoding: .utf8)
        var (keys, onCoordinator): ([String: String], [String: String]) = ([:], [:])
        for match in script.matches(of: /(?m)^SELECT create_distributed_table\('(\w+)', '(\w+)'/) {
            if keys.updateValue(String(match.2), forKey: String(match.1)) != nil {
                throw StorageError.constraint(message: "\(match.1) is there twice")
            }
        }
        for match in script.matches(of: /(?m)^-- coordinator: (\w+): (.+)$/) {
            onCoordinator[String(match.1)] = String(match.2)
        }
        self.keys = keys
        self.onCoordinator = onCoordinator
        everywhere = script.matches(of: /(?m)^SELECT create_reference_table\('(\w+)'\)/).map { String($0.1) }
    }

    /// Runs the script, with functions of Citus's names that keep what they are told, and makes the partitions.
    func make(in connection: any SQLConnection) throws {
        try connection.runScript(
            """
            CREATE TABLE told (name TEXT PRIMARY KEY, key TEXT);
            CREATE FUNCTION create_reference_table(name regclass) RETURNS void LANGUAGE sql AS
                $$ INSERT INTO told VALUES ($1::text, NULL) $$;
            CREATE FUNCTION create_distributed_table(name regclass, key text, colocate_with text) RETURNS void LANGUAGE sql AS
                $$ INSERT INTO told VALUES ($1::text, $2) $$;
            """)
        try connection.runScript(script)
        try connection.runScript("CREATE SCHEMA shards")
        for (table, key) in keys {
            try connection.runScript(
                """
                CREATE TABLE shards.\(table) (LIKE public.\(table) INCLUDING DEFAULTS INCLUDING INDEXES) PARTITION BY HASH (\(key))
                """)
            for part in 0..<Self.parts {
                try connection.runScript(
                    """
                    CREATE TABLE shards.\(table)_\(part) PARTITION OF shards.\(table)
                    FOR VALUES WITH (MODULUS \(Self.parts), REMAINDER \(part))
                    """)
            }
        }
        for table in everywhere + onCoordinator.keys {
            try connection.runScript(
                "CREATE TABLE shards.\(table) (LIKE public.\(table) INCLUDING DEFAULTS INCLUDING INDEXES)")
        }
        try connection.runScript("SET search_path = shards")
    }

    /// What Citus asks of the tables, and the script forgot.
    func faults(in connection: any SQLConnection) throws -> [String] {
        var faults: [String] = []
        let unique = try connection.rows(
            """
            SELECT CAST(c.relname AS TEXT) AS name, CAST(i.indexrelid::regclass AS TEXT) AS index_name, EXISTS (
                    SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey) AND a.attname = t.key
                ) AS has_key
            FROM public.told t JOIN pg_class c ON c.oid = ('public.' || t.name)::regclass JOIN pg_index i ON i.indrelid = c.oid
            WHERE t.key IS NOT NULL AND i.indisunique
            """
        ) { (try $0.text("name"), try $0.text("index_name"), try $0.bool("has_key")) }
        for (table, index, hasKey) in unique where !hasKey {
            faults.append("the unique index \(index) of \(table) has not its key")
        }
        let nullable = try connection.rows(
            """
            SELECT t.name FROM public.told t JOIN pg_attribute a
                ON a.attrelid = ('public.' || t.name)::regclass AND a.attname = t.key
            WHERE NOT a.attnotnull
            """
        ) { try $0.text("name") }
        faults += nullable.map { "the key of \($0) may be null" }
        let references = try connection.rows(
            """
            SELECT CAST(f.conname AS TEXT) AS name, CAST(f.conrelid::regclass AS TEXT) AS source,
                CAST(f.confrelid::regclass AS TEXT) AS target,
                COALESCE((SELECT a.attname = s.key AND b.attname = d.key FROM unnest(f.conkey, f.confkey) AS k (source, target)
                    JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.source
                    JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = k.target
                    WHERE a.attname = s.key LIMIT 1), false) AS by_key
            FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid
            LEFT JOIN public.told s ON 'public.' || s.name = CAST(f.conrelid::regclass AS TEXT)
            LEFT JOIN public.told d ON 'public.' || d.name = CAST(f.confrelid::regclass AS TEXT)
            WHERE f.contype = 'f' AND c.relnamespace = 'public'::regnamespace
            """
        ) { (try $0.text("name"), try $0.text("source"), try $0.text("target"), try $0.bool("by_key")) }
        for (name, source, target, isByKey) in references {
            let (source, target) = (Self.plain(source), Self.plain(target))
            if everywhere.contains(target) { continue }
            if keys[source] != nil, keys[target] != nil, isByKey { continue }
            if onCoordinator[source] != nil, onCoordinator[target] != nil { continue }
            faults.append("\(name) leads from \(source) to \(target), which may be elsewhere")
        }
        return faults
    }

    private static func plain(_ name: String) -> String { name.replacing("public.", with: "") }

    // MARK: Statements

    /// What a statement touches.
    struct Touched: Equatable {
        /// Partitions by table, of those that are distributed.
        var parts: [String: Set<Int>] = [:]
        /// Tables that it inserts into without saying the number in so many words.
        var unnamed: Set<String> = []

        /// Whether one node is enough: the same part of every table, or none.
        var isOnOne: Bool { unnamed.isEmpty && Set(parts.values.flatMap { $0 }).count <= 1 }
    }

    func touched(by sql: String, _ values: [SQLValue], in connection: any SQLConnection) throws -> Touched {
        var touched = Touched()
        let plan = try connection.rows("EXPLAIN (COSTS OFF) " + sql, values) { try $0.text("QUERY PLAN") }
        for line in plan {
            for match in line.matches(of: /\bon (\w+?)_(\d)\b/) {
                guard keys[String(match.1)] != nil, let part = Int(match.2) else { continue }
                touched.parts[String(match.1), default: []].insert(part)
            }
        }
        // A plan does not say where a new row goes.
        for match in sql.matches(of: /INSERT INTO (\w+)\s*\(([^)]*)\)\s*(VALUES|SELECT)\s+(.*)/.dotMatchesNewlines()) {
            let table = String(match.1)
            guard let key = keys[table] else { continue }
            let place = Self.parts(of: match.2).firstIndex(of: key)
            let rows =
                match.3 == "SELECT"
                ? [Self.parts(of: match.4)] : Self.tuples(at: match.4).map { Self.parts(of: $0) }
            for row in rows {
                guard let place, place < row.count, let parameter = row[place].wholeMatch(of: /\$(\d+)/),
                    let number = Int(parameter.1), values.indices.contains(number - 1)
                else {
                    touched.unnamed.insert(table)
                    continue
                }
                touched.parts[table, default: []].insert(try part(of: values[number - 1], in: connection))
            }
        }
        return touched
    }

    /// What commas outside of parentheses separate.
    private static func parts(of list: Substring) -> [String] {
        var (parts, depth) = ([""], 0)
        for character in list {
            depth += character == "(" ? 1 : character == ")" ? -1 : 0
            if character == ",", depth == 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        return parts.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    }

    /// What stands in each pair of parentheses of `VALUES`.
    private static func tuples(at text: Substring) -> [Substring] {
        var (tuples, depth, start) = ([Substring](), 0, text.startIndex)
        for index in text.indices {
            switch text[index] {
            case "(":
                if depth == 0 { start = text.index(after: index) }
                depth += 1
            case ")":
                depth -= 1
                if depth == 0 { tuples.append(text[start..<index]) }
            case let other where depth == 0 && other != "," && !other.isWhitespace: return tuples
            default: continue
            }
        }
        return tuples
    }

    /// Which part rows with such a key are in: PostgreSQL's own hash, which all tables with keys of a kind share.
    private func part(of key: SQLValue, in connection: any SQLConnection) throws -> Int {
        let table = if case .integer = key { "zone" } else { "session" }
        for part in 0..<Self.parts {
            let isIn = try connection.first(
                """
                SELECT satisfies_hash_partition(CAST('shards.\(table)' AS regclass), \(Self.parts), \(part), $1) AS is_in
                """, [key]
            ) { try $0.bool("is_in") }
            if isIn == true { return part }
        }
        throw StorageError.failed(code: 0, message: "no part has the key")
    }
}
