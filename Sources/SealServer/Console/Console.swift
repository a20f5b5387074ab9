import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SealPrimitives
import SealService
import SealStorage
import SealWire

/// The pages of the console. They read and change what the operator's commands do, by the same use cases.
struct Console: Sendable {
    let services: ConsoleServices
    let sessions: ConsoleSessions
    let journal: OperatorJournal
    let schema: SchemaManagement
    let records: ConsoleRecords

    init(_ services: ConsoleServices, sessions: ConsoleSessions) {
        (self.services, self.sessions) = (services, sessions)
        journal = OperatorJournal(metrics: services.metrics, logger: services.logger)
        schema = SchemaManagement(
            transactions: services.transactions, schemas: services.schemas, jobs: services.jobs, clock: services.clock)
        records = ConsoleRecords(
            transactions: services.transactions, sessions: services.sessions, rates: services.rates,
            schemas: services.schemas, query: services.query, modification: services.modification,
            keys: services.consoleKeys, clock: services.clock)
    }

    /// Seconds since 1970.
    var now: Int64 { services.clock() / 1_000_000 }

    func addRoutes(to routes: inout RouteTable) {
        routes.add(.get, "/console.css", name: "console/style") { _, _ in
            ConsolePage.response(ConsoleStyle.text, type: "text/css; charset=utf-8")
        }
        routes.add(.get, "/sign-in", name: "console/sign-in") { _, _ in signInPage() }
        routes.add(.post, "/sign-in", name: "console/sign-in") { request, context in
            try await signIn(request, context)
        }
        post("/sign-out", &routes) { _, session in
            sessions.end(session)
            return ConsolePage.see("/sign-in", cookie: Self.cookie("", seconds: 0))
        }
        get("/", &routes) { _, session in
            if let container = session.container { return try await overview(of: container, session) }
            return try await overview(session)
        }
        get("/telemetry", &routes) { fields, session in try await telemetry(fields, session) }
        addLogRoutes(to: &routes)
        addAlertRoutes(to: &routes)
        addEventRoutes(to: &routes)
        addAccountRoutes(to: &routes)
        addSchemaRoutes(to: &routes)
        addDataRoutes(to: &routes)
        get("/zones", &routes) { fields, session in try await zones(fields, session) }
        addSubscriptionRoutes(to: &routes)
        addAccessRoutes(to: &routes)
        addServerRoutes(to: &routes)
    }

    // MARK: Who asks

    func get(
        _ path: String, _ routes: inout RouteTable,
        _ page: @escaping @Sendable (FormFields, ConsoleSessions.Session) async throws -> Response
    ) {
        routes.add(.get, path, name: Self.name(path)) { request, _ in
            guard let session = try await session(of: request) else { return ConsolePage.see("/sign-in") }
            let fields = try Self.allowed(try FormFields(request.uri.query.map { $0[...] } ?? ""), path, session)
            return try await OperatorJournal.$manages.withValue(session.container) { try await page(fields, session) }
        }
    }

    /// A form that does something: of whoever has signed in, from a page that was made for them.
    /// - Parameter limit: of its fields, in bytes.
    func post(
        _ path: String, atMost limit: Int = FormFields.mostBytes, _ routes: inout RouteTable,
        _ action: @escaping @Sendable (FormFields, ConsoleSessions.Session) async throws -> Response
    ) {
        routes.add(.post, path, name: Self.name(path)) { request, _ in
            guard let session = try await session(of: request) else {
                throw ServerError(
                    .notAuthenticated, "Nobody has signed in, or it was too long ago.", remedy: "Sign in again.")
            }
            let fields = try await Self.form(request, atMost: limit)
            guard session.allows(fields["token"], for: path) else {
                throw ServerError(
                    .permissionFailure, "The form is none of this session's.",
                    remedy: "Load the page again, and send its form.")
            }
            let allowed = try Self.allowed(fields, path, session)
            return try await OperatorJournal.$manages.withValue(session.container) {
                try await action(allowed, session)
            }
        }
    }

    /// The operator may ask for anything, whoever manages a container for some pages about it.
    /// - Throws: `permissionFailure`.
    private static func allowed(
        _ fields: FormFields, _ path: String, _ session: ConsoleSessions.Session
    ) throws(ServerError) -> FormFields {
        guard let container = session.container else { return fields }
        guard ConsolePage.managed.contains(path) else {
            throw ServerError(
                .permissionFailure, "This page is the operator's.",
                remedy: "A container's token is for the pages that the menu has. Sign in with the operator's token.")
        }
        return try fields.about(container)
    }

    private static func name(_ path: String) -> String { path == "/" ? "console/overview" : "console" + path }

    private func session(of request: Request) async throws -> ConsoleSessions.Session? {
        guard let cookie = Self.cookie(of: request), let session = sessions.find(cookie) else { return nil }
        // A container's token may be revoked or expire while somebody is signed in with it.
        if let grant = session.grant, try await !services.door.isGood(grant) {
            sessions.end(session)
            return nil
        }
        return session
    }

    private static func cookie(of request: Request) -> String? {
        for header in request.headers[values: .cookie] {
            for part in header.split(separator: ";") {
                let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if pair.count == 2, pair[0] == ConsoleSessions.cookie { return String(pair[1]) }
            }
        }
        return nil
    }

    private static func form(_ request: Request, atMost limit: Int = FormFields.mostBytes) async throws -> FormFields {
        let body: ByteBuffer
        do { body = try await request.body.collect(upTo: limit) } catch is NIOTooManyBytesError {
            throw ServerError(.limitExceeded, "A form has at most \(limit) bytes.", remedy: "Say less.")
        }
        return try FormFields(String(buffer: body)[...])
    }

    // MARK: Signing in

    private func signInPage() -> Response {
        let body: Markup = """
            <p>With the operator's token: the line of the file <code>operator.token</code> in the server's secrets folder. Or \
            with a management token that was made for a container: it shows that container alone.</p>
            <form class="fields" method="post" action="/sign-in">
            <label>Token <input name="operator-token" type="password" autocomplete="off" required autofocus></label>
            <button>Sign in</button>
            </form>
            """
        return ConsolePage(title: "Sign in", body: body, session: nil).response()
    }

    private func signIn(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let fields = try await Self.form(request)
        let token = fields["operator-token"]
        var grant: ManagementTokens.Grant?
        if token.hasPrefix(ManagementTokens.prefix) {
            grant = try await self.grant(token, context)
        } else {
            try services.operatorGate.admit(token[...], from: context.client)
        }
        OperatorJournal.$manages.withValue(grant?.container) { journal.note(.signIn) }
        return ConsolePage.see(
            "/", cookie: Self.cookie(sessions.begin(for: grant), seconds: ConsoleSessions.lifetime / 1_000_000))
    }

    /// Refusals are counted with those of the operator's token.
    private func grant(_ token: String, _ context: SealRequestContext) async throws -> ManagementTokens.Grant {
        do { return try await services.door.grant(managementToken: token) } catch let refusal as ServerError {
            services.metrics.count(.operatorActions, "refused")
            try services.rates.count(.operatorTry, .client(context.client))
            throw refusal
        }
    }

    private static func cookie(_ value: String, seconds: Int64) -> String {
        "\(ConsoleSessions.cookie)=\(value); Path=/; Max-Age=\(seconds); Secure; HttpOnly; SameSite=Strict"
    }
}

// MARK: What pages have in common

extension Console {
    /// - Parameter name: what is in it, of its own on the page: somebody who hears the page goes from one to the next.
    static func table(
        _ name: String, _ heads: [String], _ rows: [Markup], numbers: Set<Int> = [], empty: String
    ) -> Markup {
        guard !rows.isEmpty else { return "<p>\(empty)</p>" }
        let cells = heads.enumerated().map { index, head -> Markup in
            numbers.contains(index)
                ? "<th scope=\"col\" class=\"n\">\(head)</th>" : "<th scope=\"col\">\(head)</th>"
        }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="\(name)"><table>
            <thead><tr>\(Markup(cells))</tr></thead>
            <tbody>
            \(Markup(rows))</tbody>
            </table></div>
            """
    }

    /// What a form sends along as it came.
    static func hidden(_ fields: FormFields, _ names: [String]) -> Markup {
        Markup(names.map { name in "<input type=\"hidden\" name=\"\(name)\" value=\"\(fields[name])\">" })
    }

    /// A label with its field.
    static func field(_ label: String, _ name: String, _ value: String = "") -> Markup {
        "<label>\(label) <input name=\"\(name)\" type=\"text\" value=\"\(value)\"></label>\n"
    }

    static func choice(_ label: String, _ name: String, _ values: [(value: String, shown: String)], _ chosen: String)
        -> Markup
    {
        let options = values.map { value, shown -> Markup in
            let selected: Markup = value == chosen ? " selected" : ""
            return "<option value=\"\(value)\"\(selected)>\(shown)</option>"
        }
        return "<label>\(label) <select name=\"\(name)\">\(Markup(options))</select></label>\n"
    }

    /// Where a list goes on, of a link's `after`; empty for its beginning.
    /// - Throws: `invalidArguments`.
    static func cursor(_ fields: FormFields) throws(ServerError) -> Data {
        guard let cursor = try? Hex.decode(fields["after"]) else {
            throw ServerError(.invalidArguments, "The link goes nowhere.", remedy: "Begin again without it.")
        }
        return Data(cursor)
    }

    /// The link to what comes after a page; nil for the last one.
    /// - Parameters:
    ///   - query: what the page was asked for.
    ///   - word: what the link says.
    static func more(_ path: String, _ query: String, after cursor: Data, _ word: String) -> Markup? {
        more(path, query, after: Hex.encode([UInt8](cursor)), word)
    }

    static func more(_ path: String, _ query: String, after cursor: String, _ word: String) -> Markup? {
        guard !cursor.isEmpty else { return nil }
        let fields = (query.isEmpty ? "" : query + "&") + "after=" + cursor
        return "<p><a href=\"\(path)?\(fields)\">\(word)</a></p>"
    }

    static func bytes(_ count: some BinaryInteger) -> String { bytes(Double(count)) }

    static func bytes(_ count: Double) -> String {
        var (value, unit) = (count, 0)
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
        while value >= 1_024, unit < units.count - 1 {
            value /= 1_024
            unit += 1
        }
        return unit == 0 ? "\(whole(count)) B" : "\((value * 10).rounded() / 10) \(units[unit])"
    }

    /// Without its fraction. Sums that have reached the end of their numbers are none of `Int64` as fractions.
    static func whole(_ value: Double) -> String { String(format: "%.0f", value.rounded(.down)) }

    /// UTC, to the second.
    static func time(microseconds: Int64) -> String {
        let seconds = microseconds / 1_000_000
        return Chart.time(seconds) + (seconds % 60 < 10 ? ":0" : ":") + "\(seconds % 60)"
    }

    static let environments = [("", "both"), ("development", "development"), ("production", "production")]
    static let lengths: [(value: String, shown: String)] = [
        ("1", "an hour"), ("24", "a day"), ("168", "a week"), ("1440", "60 days"),
    ]

    /// Two years.
    static let knownHours: ClosedRange<Int64> = 1...17_520

    /// Hours, of a field that has them: a day where it has none.
    /// - Throws: `invalidArguments`.
    static func hours(_ text: String) throws(ServerError) -> Int64 {
        guard !text.isEmpty else { return 24 }
        guard let hours = Int64(text), knownHours.contains(hours) else {
            throw ServerError(.invalidArguments, "That is no number of hours.", remedy: "Give one from 1 to 17520.")
        }
        return hours
    }

    /// - Parameter hours: which one of them is chosen, of these or others.
    static func lengthChoice(_ hours: Int64) -> Markup {
        let isThere = lengths.contains { $0.value == "\(hours)" }
        return choice("Time", "hours", (isThere ? [] : [("\(hours)", "\(hours) hours")]) + lengths, "\(hours)")
    }
}
