import Foundation
import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// That a database of several nodes would do what one user does with zones of their own on one of them, and which
/// statements need more.
@Suite(.timeLimit(.minutes(60))) struct DistributionTests {
    /// A new table gets a line in `Examples/deploy/citus.sql`.
    @Test func everyTableHasItsPlace() throws {
        let tables = try DistributedTables()
        let placed = tables.keys.keys + tables.everywhere + tables.onCoordinator.keys
        #expect(Set(placed).count == placed.count)
        // PostgreSQL has no such table.
        let all = Set(Tables.all.map(\.name)).subtracting(["search_term"])
        #expect(all.subtracting(placed).sorted() == [], "without a line in Examples/deploy/citus.sql")
        #expect(Set(placed).subtracting(all).sorted() == [], "no tables any more")
        // What belongs to an owner or an account goes by that number, or there is a reason.
        for table in Tables.all {
            guard let key = tables.keys[table.name], let column = table.whose.column else { continue }
            if Self.directories.contains(table.name) { continue }
            #expect(key == column, "\(table.name)")
        }
    }

    /// Found before it is known whose they are.
    private static let directories = [
        "session", "login_key", "recovery_bundle", "linked_address", "enrolment", "verification",
    ]

    /// What needs more than one node, by how the statement begins, as a regular expression; why.
    private static let crossing: [(pattern: String, why: String)] = [
        ("UPDATE zone_view SET position = .* WHERE owner = ", "a change moves the feeds of all who see the zone"),
        ("SELECT position FROM database_feed WHERE .viewer, environment, shared. IN ", "the same, to hold them"),
        ("INSERT INTO view_run .* SELECT f.viewer, .* FROM database_feed f WHERE ", "the same, with where they stood"),
        ("UPDATE database_feed SET position = .* IN .SELECT ", "the same, which give out the places"),
        ("SELECT owner, zone FROM zone_view WHERE viewer = .* FROM zone_touch", "what waits is with the zones' owners"),
        (
            "SELECT last FROM notification_feed WHERE .* FROM zone_view v WHERE .* FROM subscription s",
            "who is told, to hold them"
        ),
        (
            "UPDATE notification_feed SET last = .* FROM zone_view v WHERE .* FROM subscription s",
            "all who subscribe are told"
        ),
        ("SELECT z.owner, .* FROM zone_view v JOIN zone z .* WHERE v.viewer = ", "a user's zones may be anybody's"),
        (
            "DELETE FROM [a-z_]+ WHERE .owner, zone, .* IN .SELECT ",
            "a job empties a zone: the subselect has the number"
        ),
        ("INSERT INTO blob_garbage .* FROM blob WHERE .owner, zone, id. IN ", "the same"),
        (
            "SELECT 1 FROM (account_deletion|zone_remains|zone_touch|public_change) ",
            "a job looks whether there is something to do"
        ),
    ]

    private static func line(_ sql: String) -> String {
        sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Which of those that cross a statement is.
    private static func known(_ line: String) -> Int? {
        crossing.firstIndex { line.range(of: $0.pattern, options: [.regularExpression, .anchored]) != nil }
    }

    @Test(.withPostgres) func theScriptKeepsCitusRules() throws {
        try Self.withPartitions { connection, tables in
            #expect(try tables.faults(in: connection) == [])
            let told = try connection.rows("SELECT name FROM public.told") { try $0.text("name") }
            let placed = tables.keys.keys + tables.everywhere
            #expect(told.sorted() == placed.sorted())
        }
    }

    private static func withPartitions(_ body: (any SQLConnection, DistributedTables) throws -> Void) throws {
        let server = try #require(TestPostgres.shared)
        let folder = TemporaryFolder()
        let name = try server.database(of: folder.path, hasTables: true)
        let hold = try PostgresHold(try server.address(of: name))
        let tables = try DistributedTables()
        try hold.write { connection in
            try tables.make(in: connection)
            try body(connection, tables)
        }
        hold.close()
        withExtendedLifetime(folder) {}
    }

    /// Everything that a server asks of its database while one user works with zones of their own.
    private static func statements() async throws -> [(sql: String, values: [SQLValue])] {
        let server = try #require(TestPostgres.shared)
        let folder = TemporaryFolder()
        let database = DatabaseConfiguration(url: server.url(of: try server.database(of: folder.path, hasTables: true)))
        let isNoting = Mutex(false)
        let noted = Mutex<[String: [SQLValue]]>([:])
        let counter = StatementCounter { sql, values in
            guard isNoting.withLock({ $0 }) else { return }
            noted.withLock { if $0[sql] == nil { $0[sql] = values } }
        }
        try await RunningServer.with(folder: folder, counter: counter, database: database) { server in
            // Numbers are small where few accounts were made: others stand between.
            for _ in 0..<3 { _ = try await Person.ready(server) }
            let anna = try await Person.ready(server)
            isNoting.withLock { $0 = true }
            let zone = try await anna.makeZone()
            let token = try await anna.changes(in: zone).token
            let saved = try await QueryTests.save(
                ["a": ["name": .string("Anna Maria"), "age": .int64(3)], "b": ["name": .string("Bert")]], by: anna,
                in: zone)
            _ = try await anna.save([Write("c"), Write("d").going(with: "a")], in: zone)
            _ = try await anna.changes(in: zone, since: token)
            _ = try await anna.zoneChanges()
            _ = try await anna.lookup(["a", "b"], in: zone)
            _ = try await anna.names("name BEGINSWITH 'Anna'", in: zone)
            _ = try await anna.zones()
            _ = try await anna.fetchRoster(zone)
            if let b = saved["b"] { _ = try await anna.save([.deletion(of: b)], in: zone) }
            _ = try await anna.deleteZone(zone)
            // Jobs come to it later. What none of them asks is told below.
            try? await waitUntil("all that crosses was asked") {
                let asked = Set(noted.withLock { Array($0.keys) }.compactMap { Self.known(Self.line($0)) })
                return asked.count == crossing.count && server.services.jobs.areIdle
            }
            isNoting.withLock { $0 = false }
        }
        return noted.withLock { $0 }.map { (sql: $0.key, values: $0.value) }.sorted { $0.sql < $1.sql }
    }

    @Test(.withPostgres) func singleOwnerWorkNeedsOneNode() async throws {
        let statements = try await Self.statements()
        #expect(statements.count > 60)
        try Self.withPartitions { connection, tables in
            var found: Set<Int> = []
            for (sql, values) in statements where sql.contains(/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/) {
                let touched = try tables.touched(by: sql, values, in: connection)
                guard !touched.isOnOne else { continue }
                let line = Self.line(sql)
                let known = Self.known(line)
                #expect(known != nil, "\(line): \(touched)")
                if let known { found.insert(known) }
            }
            // What crosses no more has no line.
            let idle = Self.crossing.indices.filter { !found.contains($0) }.map { Self.crossing[$0].pattern }
            #expect(idle == [])
        }
    }
}
