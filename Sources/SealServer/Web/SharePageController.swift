import HTTPTypes
import Hummingbird
import SealPrimitives
import SealService
import SealWire

/// `GET /s/{routing id}`: what a share URL shows in a browser: the web client, or where the program was built without
/// it a word of what to do. It consumes nothing, and is the same for every id, so that it tells nobody which shares
/// exist. What follows the `#` never reaches the server.
///
/// Where the operator has set fallback URLs it lists them, all on every page, and sends nobody there by itself: a
/// redirect would hand what follows the `#` to the other site. Where the operator has the page stand at another origin
/// (`--web-at`) that is what is meant, and browsers are sent there: they keep what follows the `#`.
struct SharePageController: Sendable {
    private let page: WebPage
    private let webAt: String?

    /// - Parameters:
    ///   - fallbackURLs: by container, validated.
    ///   - bundle: nil where the program was built without the web client.
    ///   - webAt: the other origin where the page stands; nil where it is this server's.
    init(fallbackURLs: [String: String], bundle: WebBundle?, webAt: String?) {
        self.webAt = webAt
        let apps = Self.apps(fallbackURLs)
        if let bundle {
            page = WebPage(bundle.page(of: .here, apps: apps), WebHeaders.all)
        } else {
            var headers: HTTPFields = [
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'",
                .xContentTypeOptions: "nosniff",
            ]
            if let referrer = HTTPField.Name("Referrer-Policy") { headers[referrer] = "no-referrer" }
            page = WebPage(Self.start + apps + Self.end, headers)
        }
    }

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.server.sharePage, raw: { answer($0, withBody: true) })
        router.on(Endpoints.server.sharePageHead, raw: { answer($0, withBody: false) })
    }

    private func answer(_ call: OpenCall, withBody: Bool) -> Response {
        guard let webAt, let routing = call.context.pathParameters["routing"] else {
            return page.response(withBody: withBody)
        }
        // What is no id of a share leads nowhere, and is not said again in a header.
        guard let id = try? Base64URL.decode(routing), (try? ID16(id)) != nil else {
            return Response(status: .notFound)
        }
        let place = webAt + Endpoints.server.sharePage.route.path(["routing": routing])
        // Not kept, since the operator may change it.
        return Response(
            status: .temporaryRedirect,
            headers: [
                .location: place, .cacheControl: WebPage.caching, .contentLength: "0", .xContentTypeOptions: "nosniff",
            ])
    }

    /// Whether HTML is what `apps` writes of some URLs: scalar by scalar, as a browser reads it.
    static func isAppList(_ html: String) -> Bool {
        let link = #/<li><a rel="noreferrer" href="https:\/\/[^"<>\s]+">[^<>]+<\/a><\/li>/#
            .matchingSemantics(.unicodeScalar)
        let lines = html.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        let head = "<p>No app opened it? These apps keep their records here:</p>"
        guard lines.count >= 5, lines[0].elementsEqual(head.unicodeScalars),
            lines[1].elementsEqual("<ul>".unicodeScalars),
            lines[lines.count - 2].elementsEqual("</ul>".unicodeScalars), lines[lines.count - 1].isEmpty
        else { return false }
        return lines[2..<lines.count - 2].allSatisfy { Substring($0).wholeMatch(of: link) != nil }
    }

    private static func apps(_ fallbackURLs: [String: String]) -> String {
        let apps = fallbackURLs.sorted { $0.key < $1.key }.map { container, url in
            "<li><a rel=\"noreferrer\" href=\"\(HTML.escape(url))\">\(HTML.escape(container))</a></li>"
        }
        guard !apps.isEmpty else { return "" }
        return """
            <p>No app opened it? These apps keep their records here:</p>
            <ul>
            \(apps.joined(separator: "\n"))
            </ul>

            """
    }

    private static let start = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="robots" content="noindex">
        <title>SealKit share link</title>
        <style>
        body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 3rem auto; padding: 0 1rem; }
        code { background: #8882; padding: .1em .3em; border-radius: .2em; }
        </style>
        </head>
        <body>
        <h1>This is a SealKit share link</h1>
        <p>Somebody shares encrypted records with you. Open the link in the app that it was sent for, or accept it on the
        command line:</p>
        <p><code>sealkit share accept '&lt;the whole link&gt;'</code></p>

        """

    private static let end = """
        <p>Copy the link with everything after the <code>#</code>: that part is the key. Your browser did not send it to this
        server, and you should give it to nobody else.</p>
        <p>This server was built without the web client, which would show the records here.</p>
        </body>
        </html>
        """
}
