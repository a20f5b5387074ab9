import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit
@testable import SealServer
@testable import SealService
@testable import SealStorage

/// The console's pages of public records: found, changed by a key of the operator's, and by nothing else.
@Suite(.timeLimit(.minutes(60))) struct ConsoleDataTests {
    private static let place = "container=\(TestClient.container)&environment=development"
    private static let schema = """
        DEFINE SCHEMA RECORD TYPE Note (
            "___recordID" REFERENCE QUERYABLE, body STRING QUERYABLE, size INT64 QUERYABLE SORTABLE, seen TIMESTAMP, ratio DOUBLE,
            words LIST<STRING>, times LIST<TIMESTAMP>, place LOCATION, raw BYTES, hidden ENCRYPTED STRING, GRANT READ TO "_world",
            GRANT READ, CREATE, WRITE TO "_icloud");
        """

    /// A key of somebody's account, as a file in the folder of the console's.
    private static func key(
        _ name: String, by owner: Person, _ server: RunningServer, mode: Int = 0o600
    ) async throws -> ServerCredentialFile {
        var random = SystemRandom()
        let seed = SecretBytes(random: &random)
        let key = try SigningKey(seed: seed)
        let bytes = Identity(
            container: TestClient.container, generation: 0, signingKey: key.verificationKey,
            grantKey: try XWingHPKE.publicKey(seed: SecretBytes(random: &random)), time: 1, previous: .zero
        ).canonicalBytes()
        let credential = try ServerCredentialFile(
            server: server.origin, container: TestClient.container, environment: .development, seed: seed,
            identity: SignedIdentity(bytes: bytes, signature: key.sign(Identity.signedBytes(bytes))))
        _ = try await owner.createServerKey(credential.chain, name: name, signer: key)
        try put(name, try credential.encoded(), server, mode: mode)
        return credential
    }

    private static func put(_ name: String, _ content: Data, _ server: RunningServer, mode: Int = 0o600) throws {
        let folder = server.folder.file("data.secrets/console-keys")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #expect(
            FileManager.default.createFile(
                atPath: folder + "/\(name).json", contents: content, attributes: [.posixPermissions: mode]))
    }

    private static func with(
        _ body: @Sendable (RunningServer, Person, ServerCredentialFile, ConsoleBrowser) async throws -> Void
    ) async throws {
        try await RunningServer.with(hasOperator: true, hasConsole: true) { server in
            let anna = try await Person.ready(server)
            try await Management(server).importing(schema)
            let credential = try await key("desk", by: anna, server)
            try await body(server, anna, credential, try await ConsoleBrowser.signedIn(server))
        }
    }

    private static func note(_ name: String, _ body: String, size: Int64) -> PublicWrite {
        var write = PublicWrite(name, body)
        write.fields.append(("raw", .stored(.plain(.data([1, 2, 3])), blob: nil)))
        write.fields.append(("seen", .stored(.plain(.date(0.123456789)), blob: nil)))
        write.fields.append(("size", .stored(.plain(.int64(size)), blob: nil)))
        write.fields.append(("words", .stored(.plain(.list([.string("a"), .string("b")])), blob: nil)))
        return write
    }

    private static func record(_ name: String, key: String = "desk") -> String {
        "/data/record?\(place)&key=\(key)&" + FormFields.query([("name", name)])
    }

    /// The value of a hidden field or an input.
    private static func value(_ name: String, in html: String) -> String? {
        guard let field = html.range(of: "name=\"\(name)\" value=\"") else { return nil }
        return String(html[field.upperBound...].prefix { $0 != "\"" })
    }

    private static func form(_ html: String, _ more: [(String, String)]) -> [(String, String)] {
        let fields = ["tag", "type", "name"].map { ($0, value($0, in: html) ?? "") }
        return [("container", TestClient.container), ("environment", "development"), ("key", "desk")] + fields + more
    }

    private static func fields(of record: Sealkit_V1_Record) throws -> [String: Value] {
        var values: [String: Value] = [:]
        for field in record.fields {
            if case .stored(.plain(let value), _) = try WireField(field) { values[field.name] = value }
        }
        return values
    }

    @Test func recordsAreFoundChangedAndDeletedByAKey() async throws {
        try await Self.with { server, anna, credential, browser in
            _ = try await anna.savePublic([
                Self.note("n1", "first", size: 3), Self.note("n2", "second", size: 40),
            ])
            let start = try await browser.get("/data").body
            #expect(start.contains("desk: <code>\(credential.chain.userID.recordName)</code>"))
            #expect(start.contains(">\(TestClient.container)</a>"))
            let types = try await browser.get("/data?\(Self.place)").body
            #expect(types.contains("type=Note") && types.contains("/zones?container="))
            // Without a key as everybody; the rows link to the record.
            let all = try await browser.get("/data?\(Self.place)&type=Note").body
            #expect(all.contains(">n1</a>") && all.contains(">n2</a>") && all.contains("second"))
            #expect(all.contains("hidden: the server cannot read those"))
            for (query, found) in [
                ([("where", "size > 10")], ["n2"]), ([("where", "body = 'first'")], ["n1"]),
                ([("where", "size = 7")], []), ([("sort", "-size")], ["n2", "n1"]), ([("sort", "size")], ["n1", "n2"]),
            ] {
                let link = "/data?\(Self.place)&type=Note&key=desk&" + FormFields.query(query)
                let page = try await browser.get(link).body
                let shown = page.matches(of: />(n[12])<\/a>/).map { String($0.1) }
                #expect(shown == found, "\(query)")
            }
            for query in ["where=size%20%3E", "where=raw%20%3D%201", "sort=body", "after=zz"] {
                #expect(try await browser.get("/data?\(Self.place)&type=Note&\(query)").status == 400, "\(query)")
            }
            #expect(try await browser.get("/data?\(Self.place)&type=None").status == 404)
            #expect(try await browser.get("/data?container=%3Cb%3E").status == 400)

            // Nobody's page has a form to change it.
            let plain = try await browser.get(Self.record("n1", key: "")).body
            #expect(plain.contains("first") && !plain.contains("/data/save") && plain.contains("3 bytes"))
            let page = try await browser.get(Self.record("n1")).body
            #expect(page.contains("name=\"field.body\"") && !page.contains("name=\"field.raw\""))
            let form = Self.form(
                page,
                [
                    ("field.body", "line one\r\nline <two>"), ("field.size", "4"), ("remove.words", "yes"),
                    ("field.seen", "2001-01-01T00:00:00.123456789Z"), ("field.ratio", "0.5"), ("field.raw", "x"),
                    ("field.hidden", "x"),
                ])
            let saved = try await browser.submit(Self.record("n1"), to: "/data/save", form)
            #expect(saved.status == 303, "\(saved.body)")
            let after = try await anna.lookupPublic(["n1"])
            let record = after.results[0].record
            let statement = try Person.verifyPublic(record, authors: after.authors).statement
            #expect(statement.author == credential.chain.userID && statement.creator == anna.user)
            #expect(statement.revision == 2)
            let values = try Self.fields(of: record)
            #expect(values["body"] == .string("line one\nline <two>"))
            #expect(values["size"] == .int64(4) && values["ratio"] == .double(0.5))
            #expect(values["words"] == nil && values["hidden"] == nil)
            // What was not changed stays to the bit, also what no form has.
            #expect(values["raw"] == .data([1, 2, 3]) && values["seen"] == .date(0.123456789))

            // A page from before that, a number that is none, a name that is not the record's.
            let stale = try await browser.send(
                "POST", "/data/save",
                form + [("token", ConsoleBrowser.token(of: "/data/save", in: page) ?? "")])
            #expect(stale.status == ErrorCode.serverRecordChanged.httpStatus)
            let fresh = try await browser.get(Self.record("n1")).body
            for (fields, path) in [
                ([("field.size", "four")], "/data/save"), ([("field.seen", "yesterday")], "/data/save"),
                ([("confirmation", "n2")], "/data/delete"), ([], "/data/delete"),
            ] {
                let answer = try await browser.submit(Self.record("n1"), to: path, Self.form(fresh, fields))
                #expect(answer.status == 400, "\(fields)")
            }
            #expect(try await anna.lookupPublic(["n1"]).results[0].record.changeTag == record.changeTag)
            let gone = try await browser.submit(
                Self.record("n1"), to: "/data/delete", Self.form(fresh, [("confirmation", "n1")]))
            #expect(gone.status == 303, "\(gone.body)")
            #expect(try await browser.get(Self.record("n1")).status == 404)
            #expect(try await browser.get("/data?\(Self.place)&type=Note").body.contains(">n2</a>"))
        }
    }

    /// Dates in a form are whole: one that is added to a list leaves the others as they were.
    @Test func datesThatAreEditedKeepTheirDigits() async throws {
        try await Self.with { server, anna, _, browser in
            let times = [0.123456789, -0.1, 785_457_600.123456, 252_423_993_600.5]
            var write = Self.note("n1", "first", size: 3)
            write.fields.append(("times", .stored(.plain(.list(times.map(Value.date))), blob: nil)))
            write.fields.sort { $0.name < $1.name }
            _ = try await anna.savePublic([write])
            let page = try await browser.get(Self.record("n1")).body
            let shown = [
                "2001-01-01T00:00:00.123456789Z", "2000-12-31T23:59:59.9Z", "2025-11-21T22:40:00.123456Z",
                "@252423993600.5",
            ]
            let area = "name=\"field.times\" rows=\"2\" cols=\"40\">\n"
            #expect(page.contains(area + shown.joined(separator: "\n") + "</textarea>"))
            let form = Self.form(
                page,
                [
                    ("field.times", (shown + ["2026-11-28T11:00:00+01:00"]).joined(separator: "\r\n")),
                    ("field.seen", "@-0"),
                ])
            let saved = try await browser.submit(Self.record("n1"), to: "/data/save", form)
            #expect(saved.status == 303, "\(saved.body)")
            let values = try Self.fields(of: try await anna.lookupPublic(["n1"]).results[0].record)
            #expect(values["times"] == .list((times + [817_552_800]).map(Value.date)))
            #expect(values["seen"] == .date(0))
        }
    }

    @Test func containersComeInPages() async throws {
        try await RunningServer.with(hasOperator: true, hasConsole: true) { server in
            let names = (0..<230).map { "org.example.c\(1_000 + $0)" }
            try await server.services.database.write(at: .everything) { connection in
                for name in names {
                    try connection.execute(
                        "INSERT INTO schema_state (container, environment, version, history) VALUES ($1, 0, 1, 0)",
                        [.text(name)])
                }
            }
            let browser = try await ConsoleBrowser.signedIn(server)
            for path in ["/data", "/schema"] {
                var (seen, sizes, next) = ([String](), [Int](), Optional(path))
                while let link = next {
                    let page = try await browser.get(link)
                    #expect(page.status == 200)
                    let found = page.body.matches(of: />(org\.example\.c[0-9]+)<\/a>/).map { String($0.1) }
                    seen += found
                    sizes.append(found.count)
                    next = page.body.firstMatch(of: /<a href="([^"]*after=[^"]*)">More/).map { String($0.1) }
                }
                #expect(seen == names, "\(path)")
                #expect(sizes == [100, 100, 30], "\(path)")
                #expect(try await browser.get(path + "?after=zz").status == 400)
            }
        }
    }

    /// A page that has found nothing yet says so, and goes on.
    @Test func aSearchThatFindsNextToNothingGoesOn() async throws {
        try await Self.with { _, anna, _, browser in
            for batch in 0..<6 {
                _ = try await anna.savePublic(
                    (0..<400).map { Self.note("n\(batch)-\($0)", "text", size: batch == 5 && $0 == 399 ? 8 : 7) })
            }
            let search = "/data?\(Self.place)&type=Note&sort=size&" + FormFields.query([("where", "size != 7")])
            let first = try await browser.get(search).body
            #expect(first.contains("None is found so far"))
            let next = try #require(first.firstMatch(of: /<a href="([^"]*after=[^"]*)">More/)).1
            let second = try await browser.get(String(next).replacing("&amp;", with: "&")).body
            #expect(second.contains(">n5-399</a>"))
        }
    }

    /// Each answer that a table is made of is small where its records are large: there is an end to them.
    @Test func aTableThatTakesTooMuchReadingIsRefused() async throws {
        try await Self.with { _, anna, _, browser in
            for batch in 0..<28 {
                let writes = (0..<2).map { number in
                    var write = PublicWrite("n\(batch)-\(number)")
                    write.fields.append(
                        ("raw", .stored(.plain(.data([UInt8](repeating: 1, count: 900_000))), blob: nil)))
                    return write
                }
                _ = try await anna.savePublic(writes)
            }
            let table = "/data.csv?\(Self.place)&type=Note"
            let refused = try await browser.get(table)
            #expect(refused.status == ErrorCode.limitExceeded.httpStatus)
            #expect(refused.body.contains("more reading than one request may"))
            let some = try await browser.get(table + "&" + FormFields.query([("where", "___recordID = 'n0-1'")]))
            #expect(some.status == 200 && some.body.contains("900000 bytes"))
        }
    }

    @Test func privateDataShowsByItsSizeAlone() async throws {
        try await Self.with { server, anna, _, browser in
            let zone = try await anna.makeZone("diary")
            var write = Write("secret-name", "canary")
            // Of a type whose fields may be sealed.
            write.type = "Diary"
            _ = try await anna.save([write], in: zone)
            let zones = try await browser.get("/zones?\(Self.place)").body
            #expect(zones.contains("diary") && zones.contains(anna.user.recordName))
            #expect(try await !browser.get("/zones?container=org.example.other").body.contains("diary"))
            for page in [zones, try await browser.get("/data?\(Self.place)&type=Note").body] {
                #expect(!page.contains("canary") && !page.contains("secret-name"))
            }
            #expect(try await browser.get(Self.record("secret-name")).status == 404)
        }
    }

    @Test(
        "Public records have names and values with markup or formulas for the operator's browser and spreadsheet: they show as text."
    )
    func attack105_markupAndFormulasInRecords() async throws {
        let hostile = "</textarea></td><script>alert(1)</script><img src=x onerror='a'>\"'&"
        let formula = "=HYPERLINK(\"http://evil.example/\",\"open\")"
        try await Self.with { server, anna, _, browser in
            let name = "<b>\"name'&,"
            _ = try await anna.savePublic([
                Self.note(name, hostile, size: 1), Self.note("-2+3", formula, size: 2),
            ])
            var seen = ""
            for page in ["/data?\(Self.place)&type=Note&key=desk", Self.record(name), Self.record("-2+3")] {
                let html = try await browser.get(page).body
                seen += html
                for markup in ["<script", "<img", "<b>", "onerror='", "</textarea></td>"] {
                    #expect(!html.contains(markup), "\(page): \(markup)")
                }
            }
            for text in ["&lt;script&gt;alert(1)", "&lt;b&gt;&quot;name&#39;&amp;,", "=HYPERLINK(&quot;"] {
                #expect(seen.contains(text), "\(text)")
            }
            let table = try await browser.get("/data.csv?\(Self.place)&type=Note")
            #expect(table.headers["content-disposition"] == "attachment; filename=\"sealkit-records.csv\"")
            let lines = table.body.split(separator: "\r\n")
            #expect(lines.count == 3)
            #expect(lines[0] == "record,created,modified,body,place,ratio,raw,seen,size,times,words")
            #expect(table.body.contains("\"'=HYPERLINK(\"\"http://evil.example/\"\",\"\"open\"\")\""))
            #expect(table.body.contains("\r\n'-2+3,") && table.body.contains("\"<b>\"\"name'&,\""))
            // What it was stays what it was: a form that comes back unchanged changes nothing.
            let page = try await browser.get(Self.record(name)).body
            let tag = Self.value("tag", in: page)
            let answer = try await browser.submit(
                Self.record(name), to: "/data/save",
                [
                    ("container", TestClient.container), ("environment", "development"), ("key", "desk"),
                    ("type", "Note"), ("name", name), ("tag", tag ?? ""), ("field.body", hostile),
                    ("field.words", "a\r\nb"),
                ])
            #expect(answer.status == 303, "\(answer.body)")
            let after = try await anna.lookupPublic([name])
            try Person.verifyPublic(after.results[0].record, authors: after.authors)
            #expect(try Self.fields(of: after.results[0].record)["body"] == .string(hostile))
            AttackOutcome.held("whatever is put into a page is escaped, and no cell begins a formula")
        }
    }

    @Test(
        "Somebody at the console without a key that may, or with a disk that says otherwise, has records signed: refused."
    )
    func attack106_recordsWithoutTheirKey() async throws {
        try await Self.with { server, anna, credential, browser in
            _ = try await anna.savePublic([Self.note("n1", "first", size: 3), Self.note("n2", "second", size: 4)])
            let page = try await browser.get(Self.record("n1")).body
            let token = try #require(ConsoleBrowser.token(of: "/data/save", in: page))
            func save(_ field: String = "", _ value: String = "") async throws -> Int {
                let fields = Self.form(page, [("field.body", "forged")]).map { $0.0 == field ? (field, value) : $0 }
                return try await browser.send("POST", "/data/save", fields + [("token", token)]).status
            }
            let other = try await Self.key("other", by: anna, server)
            // No key, none of that name, one outside the folder, another place, a type that is not the record's.
            for (field, value, status) in [
                ("key", "", 403), ("key", "nobody", 404), ("key", "../management.token", 404),
                ("key", "desk.json", 404),
                ("environment", "production", 403), ("container", "org.example.other", 403), ("environment", "x", 400),
                ("name", "none", 404),
            ] {
                #expect(try await save(field, value) == status, "\(field) \(value)")
            }
            // Files that others can read, that are no keys, or that name another key than they hold.
            try Self.put("open", try other.encoded(), server, mode: 0o644)
            try Self.put("none", Data("{}".utf8), server)
            let swapped = String(decoding: try other.encoded(), as: UTF8.self).replacing(
                other.chain.userID.recordName, with: credential.chain.userID.recordName)
            try Self.put("swapped", Data(swapped.utf8), server)
            for (name, status) in [("open", 403), ("none", 400), ("swapped", 400)] {
                #expect(try await save("key", name) == status, "\(name)")
            }
            let list = try await browser.get("/data").body
            #expect(list.contains("open: Others than the server can read this key&#39;s file."))
            // The disk says what nobody has signed: no key of the operator's is to sign it now.
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    "UPDATE record SET fields = (SELECT fields FROM record WHERE name = 'n2') WHERE name = 'n1'")
            }
            #expect(try await save() == ErrorCode.integrityFailure.httpStatus)
            #expect(try await anna.lookupPublic(["n1"]).results[0].record.changeTag == Self.value("tag", in: page))
            // Nor a type that it is not of, which only the deletion would name.
            let second = try await browser.get(Self.record("n2")).body
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute("UPDATE record SET type = 'Other' WHERE name = 'n2'")
            }
            let deletion = try await browser.submit(
                Self.record("n1"), to: "/data/delete", Self.form(second, [("confirmation", "n2"), ("name", "n2")]))
            #expect(deletion.status == ErrorCode.integrityFailure.httpStatus)
            #expect(try await !anna.lookupPublic(["n2"]).results[0].record.deleted)
            // A key that was revoked, and one whose account is suspended.
            _ = try await anna.revokeServerKey(other.chain.userID)
            #expect(try await save("key", "other") == 401)
            try await OperatorClient(server).suspend(try await anna.client.me().account, reason: "why")
            #expect(try await save() == ErrorCode.accountSuspended.httpStatus)
            AttackOutcome.refused("permissionFailure, integrityFailure")
        }
    }

    @Test func aKeyHasItsOwnRightsAndNoMore() async throws {
        try await RunningServer.with(hasOperator: true, hasConsole: true) { server in
            let anna = try await Person.ready(server)
            _ = try await Self.key("desk", by: anna, server)
            // The usual grants: a record is its creator's to change.
            _ = try await anna.savePublic([PublicWrite("n1")])
            let browser = try await ConsoleBrowser.signedIn(server)
            let page = try await browser.get(Self.record("n1")).body
            for (path, more) in [("/data/save", ("field.body", "x")), ("/data/delete", ("confirmation", "n1"))] {
                let answer = try await browser.submit(Self.record("n1"), to: path, Self.form(page, [more]))
                #expect(answer.status == ErrorCode.permissionFailure.httpStatus)
                #expect(answer.body.contains("The caller&#39;s roles do not give it the right"))
            }
            // What everybody may not read is not read by the operator's token either.
            try await Management(server).importing(
                """
                DEFINE SCHEMA RECORD TYPE Note (body STRING, GRANT READ, CREATE, WRITE TO "_icloud");
                """)
            #expect(try await browser.get(Self.record("n1", key: "")).status == 403)
            #expect(try await browser.get(Self.record("n1")).status == 200)
            #expect(try await !browser.get("/data?\(Self.place)&type=Note").body.contains(">n1</a>"))
            #expect(try await !browser.get("/data.csv?\(Self.place)&type=Note").body.contains("n1"))
        }
    }
}
