import HTTPTypes
import Hummingbird
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire

extension TelemetryRecorder {
    /// Counts a request with its size, its time until the answer was ready, and what it was refused with, and notes it
    /// for the log. What a browser asks before a page's call is nobody's.
    func note(_ request: Request, _ context: SealRequestContext, _ response: Response, microseconds: Int64) {
        let note = context.note
        guard !note.isPreflight else { return }
        let (isKnown, outcome, status) = (note.isKnown, note.outcome, response.status.code)
        let code = outcome.code.isEmpty && status >= 400 ? "http-\(status)" : outcome.code
        let (bytesIn, account) = (Int64(note.bytesReceived), note.knownAccount)
        let bytesOut = outcome.code.isEmpty ? Int64(response.body.contentLength ?? 0) : 0
        let words = isKnown && code.isEmpty ? RequestWords.of(request, context) : nil
        if let words, outcome.isPlain,
            noteAgain(
                words, bytesIn: bytesIn, bytesOut: bytesOut, microseconds: microseconds, account: account,
                isPerson: note.isPerson)
        {
            return
        }
        let key = TelemetryKey(request, context, isKnown: isKnown, code: code)
        self.note(
            LoggedRequest(
                key: key, bytesIn: bytesIn, bytesOut: bytesOut, microseconds: microseconds, account: account,
                isPerson: note.isPerson, refusedItems: outcome.items.values.reduce(0, +),
                request: code.isEmpty || !hasLog ? "" : context.id,
                groupID: isKnown && hasLog ? OperationGroupHeader(request)?.id.bytes ?? [] : []), words: words)
        for (code, count) in outcome.items {
            var item = key
            (item.kind, item.code) = (.item, code)
            self.note(item, count: count, isKnown: isKnown)
        }
        if let news = outcome.news { self.note(news, by: key.client) }
    }

    /// - Parameter client: says by which way somebody came.
    private func note(_ news: SharingNews, by client: String) {
        let place = TelemetryPlace(container: news.container, environment: news.environment.name)
        for (word, count) in [
            ("invitation", news.invitations), ("acceptance", news.acceptances), ("rotation", news.rotations),
        ] { note(.event(.sharing, word, in: place, client: client), count: count) }
    }
}

extension SharingNews {
    /// Whether a client is a page in a browser: the web client, or a web app.
    static func isPage(_ client: String) -> Bool { client.hasPrefix("web/") }

    func count(by client: String, _ metrics: ServerMetrics) {
        let way = Self.isPage(client) ? "acceptance-page" : "acceptance-app"
        for (event, count) in [("invitation", invitations), (way, acceptances), ("rotation", rotations)] where count > 0
        {
            metrics.count(.sharing, event, by: count)
        }
    }
}

extension RequestWords {
    /// Nil where they are longer than any that are counted for themselves: none of those is kept, or compared. No
    /// initializer, which would take copies of request and context.
    fileprivate static func of(_ request: Request, _ context: SealRequestContext) -> RequestWords? {
        let parameters = context.pathParameters
        let words = RequestWords(
            operation: context.endpointName, template: context.endpointPath,
            container: parameters.part("container"), environment: parameters.part("environment"),
            database: parameters.part("database"),
            client: ClientHeader.name.flatMap { request.headers.value(of: $0) },
            group: OperationGroupHeader.nameHeader.flatMap { request.headers.value(of: $0) })
        let path =
            (words.container?.utf8.count ?? 0) + (words.environment?.utf8.count ?? 0)
            + (words.database?.utf8.count ?? 0)
        guard path <= mostBytes, words.client?.utf8.count ?? 0 <= mostBytes,
            words.group?.utf8.count ?? 0 <= mostBytes
        else { return nil }
        return words
    }

    private static var mostBytes: Int { 256 }
}

extension TelemetryKey {
    /// - Parameters:
    ///   - isKnown: somebody's whom the server knows: what others send is told apart by words of the server's alone.
    ///   - code: of what it was refused with; empty for none.
    fileprivate init(_ request: Request, _ context: SealRequestContext, isKnown: Bool, code: String) {
        let parameters = context.pathParameters
        let hasContainer = (isKnown || code.isEmpty) && parameters.part("container") != nil
        let environment = parameters.part("environment").flatMap { SealStatements.Environment(name: String($0)) }
        let database: String
        if let named = parameters.part("database") {
            database = named == "public" ? "public" : "private"
        } else {
            database = context.endpointPath?.contains("/public/") == true ? "public" : ""
        }
        self.init(
            kind: .request, operation: context.endpointName,
            container: hasContainer ? (try? DatabasePath.container(context)) ?? "" : "",
            environment: environment?.name ?? "", database: database, client: ClientHeader.value(of: request),
            group: isKnown ? OperationGroupHeader.groupName(of: request) : "", code: code)
    }
}
