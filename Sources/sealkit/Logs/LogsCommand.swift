import ArgumentParser
import Foundation
import SealKit

struct LogsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Single requests of the last week: which, when, how they went. Queries can be kept.",
        discussion: """
            It asks a running server on its operator's listener, as sealkit admin does. An entry has the operation, the \
            container, the kind of database, the client's library, the operation group, bytes, time and the error's code. \
            No record, name or address is in it; requests of one account in one container on one day have the same \
            letters and digits, which tell nobody whose they are.

              sealkit logs --data /var/lib/sealkit
              sealkit logs --failed --last 2h --container org.example.notes --data /var/lib/sealkit
              sealkit logs --failed --group "launch sync" --csv --data /var/lib/sealkit
              sealkit logs save "slow saves" --operation records/modify --slower-than 500 --last 1d --data /var/lib/sealkit
              sealkit logs --saved "slow saves" --json --data /var/lib/sealkit
            """,
        subcommands: [LogsSearch.self, LogsSave.self, LogsSaved.self, LogsForget.self],
        defaultSubcommand: LogsSearch.self)
}

/// What is looked for.
struct LogQueryOptions: ParsableArguments {
    @OptionGroup var time: TimeOptions

    @Flag(help: "Those alone that failed.")
    var failed = false

    @Flag(help: "Those alone that were answered.")
    var answered = false

    @OptionGroup var requests: DimensionOptions

    @Option(help: ArgumentHelp("One operation group alone, by the id that an entry has.", valueName: "digits"))
    var groupID: String?

    @Option(help: ArgumentHelp("Those alone of the account of an entry, by what it has.", valueName: "digits"))
    var user: String?

    @Option(help: ArgumentHelp("One request alone, by its id in the server's own log.", valueName: "digits"))
    var request: String?

    @Option(help: ArgumentHelp("Those alone that took so long, or longer.", valueName: "milliseconds"))
    var slowerThan: UInt32?

    @Option(help: ArgumentHelp("Part of the operation, container, client, group or code.", valueName: "text"))
    var text: String?

    func validate() throws {
        if failed, answered { throw ValidationError("Give --failed or --answered, not both.") }
    }

    /// - Parameter kept: what holds where nothing else is said.
    func query(over kept: ServerOperator.LogQuery) -> ServerOperator.LogQuery {
        var query = kept
        if let last = time.last { (query.last, query.from) = (.seconds(Int64(last.seconds)), nil) }
        if let from = time.start { (query.last, query.from) = (nil, from) }
        if let until = time.end { query.until = until }
        if failed { query.outcome = .failed }
        if answered { query.outcome = .answered }
        query.filters.merge(requests.filters) { _, given in given }
        if let groupID { query.groupID = groupID }
        if let user { query.user = user }
        if let request { query.request = request }
        if let slowerThan { query.leastDuration = .milliseconds(Int64(slowerThan)) }
        if let text { query.text = text }
        return query
    }
}

struct LogsSearch: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Look requests up, newest first.",
        discussion: "  sealkit logs search --failed --last 2h --data /var/lib/sealkit")

    @OptionGroup var what: LogQueryOptions

    @Option(help: ArgumentHelp("A query that was kept; what is given beside it goes before.", valueName: "name"))
    var saved: String?

    @OptionGroup var pages: PageOptions
    @OptionGroup var options: OperatorOptions

    func validate() throws { try pages.check(options) }

    func run(_ server: ServerOperator) async throws {
        var kept = ServerOperator.LogQuery()
        if let saved {
            guard let found = try await server.savedLogQueries()[saved] else {
                throw SealKitError(
                    .unknownItem, "no query is kept by this name", remedy: "list them: sealkit logs saved")
            }
            kept = found
        }
        var query = what.query(over: kept)
        if query.from == nil, query.last == nil { query.last = .seconds(86_400) }
        var last: ServerOperator.LogPage?
        let form = PageOptions.Form(
            csvHeader: LogText.csvHeader, csv: LogText.csv, line: LogText.line, bare: LogText.bare,
            json: { LogText.json($0) })
        try await pages.list(output, in: form) { cursor, limit in
            let page = try await server.log(query, after: cursor, limit: limit)
            last = page
            return (page.entries, page.cursor)
        }
        if let last { note(last) }
    }

    private func note(_ page: ServerOperator.LogPage) {
        switch page.state {
        case .off: output.note("this server logs nothing: it runs with --telemetry off")
        case .counts: output.note("this server has no log of requests: it runs with --telemetry counts")
        case .failing: output.note("the server cannot write its telemetry at present: its own log says why")
        case .ok, .unknown: break
        }
        if page.unlogged > 0 {
            output.note("\(page.unlogged) requests since the server's start are not in it: there were too many at once")
        }
    }
}

struct LogsSave: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Keep a query by name, for everybody who operates the server.",
        discussion: """
            One of the same name is replaced. A --last is one of whenever it is asked.

              sealkit logs save failures --failed --last 1d --data /var/lib/sealkit
            """)

    @Argument(help: "Its name: printable text, up to 64 bytes.")
    var name: String

    @OptionGroup var what: LogQueryOptions
    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        let query = what.query(over: ServerOperator.LogQuery())
        try await server.saveLogQuery(query, as: name)
        try output.result(
            "kept as \(name.escaped): \(LogText.words(query))", bare: name, json: LogText.json(query, name: name))
    }
}

struct LogsSaved: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "saved", abstract: "List the queries that are kept.",
        discussion: "  sealkit logs saved --data /var/lib/sealkit")

    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        for (name, query) in try await server.savedLogQueries().sorted(by: { $0.key < $1.key }) {
            try output.result(
                "\(name.escaped): \(LogText.words(query))", bare: name, json: LogText.json(query, name: name))
        }
    }
}

struct LogsForget: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Keep a query no more.",
        discussion: "  sealkit logs forget failures --data /var/lib/sealkit")

    @Argument(help: "The query's name.")
    var name: String

    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        try await server.removeLogQuery(named: name)
        try output.result("\(name.escaped) is kept no more", json: ["removed": .string(name)])
    }
}
