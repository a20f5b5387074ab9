import Testing

@testable import SealService
@testable import SealStorage

/// That tables are declared as they are.
@Suite(.timeLimit(.minutes(60))) struct TablesTests {
    let folder = TemporaryFolder()

    private func read<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws -> T {
        let database = try SQLiteDatabase(path: folder.file("db.sqlite"), migrations: Migration.all)
        let result = try await database.read(body)
        try await database.close()
        return result
    }

    /// The columns of every table, and those of its key in their order. Tables that SQLite makes for others are theirs.
    private func made() async throws -> [String: (columns: Set<String>, key: String)] {
        try await read { connection in
            let tables = try connection.rows(
                """
                SELECT name FROM pragma_table_list
                WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite_%'
                """
            ) { try $0.text("name") }
            var made: [String: (columns: Set<String>, key: String)] = [:]
            for table in tables {
                let columns = try connection.rows(
                    "SELECT name, pk FROM pragma_table_info($1) ORDER BY pk, cid", [.text(table)]
                ) { (name: try $0.text("name"), place: try $0.int64("pk")) }
                let key = columns.filter { $0.place > 0 }.map(\.name).joined(separator: ", ")
                made[table] = (Set(columns.map(\.name)), key.isEmpty ? "rowid" : key)
            }
            return made
        }
    }

    @Test func everyTableIsDeclaredOnceAndEveryDeclarationHasItsTable() async throws {
        let declared = Tables.all.map(\.name)
        #expect(try await made().keys.sorted() == declared.sorted())
    }

    @Test func declarationsNameTheColumnsThatThereAre() async throws {
        let made = try await made()
        for table in Tables.all {
            let found = try #require(made[table.name])
            #expect(table.key == found.key, "\(table.name)")
            for column in [table.whose.column].compactMap({ $0 }) + table.mentions.map(\.column) {
                #expect(found.columns.contains(column), "\(table.name) has no \(column)")
            }
            // Users are told apart by their container.
            for mention in table.mentions {
                guard case .atClosing = mention.meaning else { continue }
                #expect(found.columns.contains("container"), "\(table.name)")
            }
            // What goes with a zone is found by it.
            if table.whose == .zone { #expect(table.key.hasPrefix("owner, zone"), "\(table.name)") }
        }
    }

    @Test func whatIsErasedIsSomebodys() {
        for table in Tables.all {
            switch table.erased {
            case .withZone, .unlessSeen: #expect(table.whose == .zone, "\(table.name)")
            case .atClosing:
                if case .account = table.whose { continue }
                Issue.record("\(table.name) is no account's")
            case .withAccount, .withSight: #expect(table.whose.column != nil, "\(table.name)")
            case .apart(let how): #expect(!how.isEmpty, "\(table.name)")
            case .kept(let why): #expect(!why.isEmpty, "\(table.name)")
            }
            if table.findsZones { #expect(table.whose == .zone, "\(table.name)") }
            if case .free(let why) = table.billed { #expect(!why.isEmpty, "\(table.name)") }
        }
    }

    /// A table that is billed from the beginning has its triggers by the first step, any other by a later one.
    @Test func whatIsBilledHasItsTriggers() async throws {
        let triggers = try await read { connection in
            try connection.rows("SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger'") { row in
                (table: try row.text("tbl_name"), name: try row.text("name"))
            }
        }
        #expect(Set(triggers.map(\.table)) == Set(BilledTable.all.map(\.name)))
        for table in BilledTable.all {
            #expect(triggers.contains { $0.name == "bill_\(table.name)_DELETE" }, "\(table.name)")
        }
    }

    /// What waited to be told when the database was of an older version is told, and its positions go on from there.
    @Test func changesThatWaitStayWithTheirPositions() async throws {
        let path = folder.file("old.sqlite")
        let insert = """
            INSERT INTO public_change (zone_owner, origin, changed, reason, record, record_type, creator, author, created,
                modified, fields, told_owner, told_id)
            VALUES (-1, x'00', 1, 1, $1, 'Note', '', '', 1, 1, x'', 0, '')
            """
        let old = try SQLiteDatabase(path: path, migrations: Array(Migration.all.prefix(7)))
        try await old.write(at: .everything) { connection in
            for name in ["a", "b", "c"] { try connection.execute(insert, [.text(name)]) }
            try connection.execute("DELETE FROM public_change WHERE record = 'a'")
        }
        try await old.close()
        let new = try SQLiteDatabase(path: path, migrations: Migration.all)
        let rows = try await new.write(at: .everything) { connection in
            let kept = try connection.rows("SELECT position, record FROM public_change ORDER BY position") {
                "\(try $0.int64("position")) \(try $0.text("record"))"
            }
            try connection.execute("DELETE FROM public_change")
            try connection.execute(insert, [.text("d")])
            let next = try connection.rows("SELECT position FROM public_change") { "\(try $0.int64("position")) d" }
            return kept + next
        }
        #expect(rows == ["2 b", "3 c", "4 d"])
        #expect(
            try await new.read { try $0.exists("SELECT 1 FROM sqlite_master WHERE name = 'public_change_zone'") })
        try await new.close()
    }

    /// Databases remember these names, and with them what the steps did: one that is there never changes.
    @Test func theHistoryStaysAsItIs() {
        let names = [
            "001-baseline-03639e6e", "002-feeds-by-scope-55b4abc0", "003-begins-of-runs-808d0ad6",
            "004-standing-of-accounts-68e2c610", "005-log-queries-72f86849", "006-management-events-01cd499a",
            "007-alerts-d1125186", "008-positions-of-public-changes-f6d937b4", "009-times-of-garbage-28eb997f",
            "010-database-feeds-1e00f1ca",
        ]
        #expect(Migration.all.map(\.name).prefix(names.count) == names[...])
    }
}
