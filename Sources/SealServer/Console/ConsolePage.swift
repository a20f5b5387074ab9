import HTTPTypes
import Hummingbird
import NIOCore
import SealService

/// A page of the console: one frame, no script, nothing from anywhere else.
struct ConsolePage {
    let title: String
    let body: Markup
    /// Of who has signed in; nil for pages that need nobody.
    let session: ConsoleSessions.Session?

    static let places: [(path: String, name: String)] = [
        ("/", "Overview"), ("/telemetry", "Telemetry"), ("/logs", "Logs"), ("/alerts", "Alerts"),
        ("/events", "Events"), ("/accounts", "Accounts"), ("/schema", "Schema"), ("/data", "Data"), ("/zones", "Zones"),
        ("/subscriptions", "Subscriptions"), ("/access", "Access"), ("/server", "Server"),
    ]

    /// What whoever has signed in with a container's token may ask for, each about that container; all else is the
    /// operator's.
    static let managed: Set<String> = [
        "/", "/telemetry", "/logs", "/logs.csv", "/logs.json", "/events", "/events.csv", "/schema", "/schema.ckdb",
        "/schema/import", "/schema/edit", "/schema/deploy", "/schema/reset", "/data", "/data.csv", "/data/record",
        "/zones", "/subscriptions", "/access", "/sign-out",
    ]

    func response(status: HTTPResponse.Status = .ok) -> Response {
        Self.response(Self.frame(title, body, session), type: "text/html; charset=utf-8", status: status)
    }

    /// - Parameters:
    ///   - fileName: what a browser keeps it as; nil for what it shows.
    static func response(
        _ text: String, type: String, status: HTTPResponse.Status = .ok, fileName: String? = nil
    ) -> Response {
        var headers = safeHeaders
        headers[.contentType] = type
        if let fileName { headers[.contentDisposition] = "attachment; filename=\"\(fileName)\"" }
        let body = ByteBuffer(string: text)
        headers[.contentLength] = "\(body.readableBytes)"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// - Parameter lines: as `SpreadsheetCell.line` makes them.
    static func spreadsheet(_ columns: [String], _ lines: some Sequence<String>, fileName: String) -> Response {
        let text = ([SpreadsheetCell.line(columns)] + lines).joined(separator: "\r\n") + "\r\n"
        return response(text, type: "text/csv; charset=utf-8", fileName: fileName)
    }

    /// After a form: the page that shows what came of it, which may be loaded again.
    static func see(_ path: String, cookie: String? = nil) -> Response {
        var headers = safeHeaders
        headers[.location] = path
        headers[.contentLength] = "0"
        if let cookie { headers[.setCookie] = cookie }
        return Response(status: .seeOther, headers: headers)
    }

    static func failure(_ reason: String, remedy: String, status: HTTPResponse.Status) -> Response {
        let body: Markup = """
            <p class="failure" role="alert">\(reason)</p>
            <p>\(remedy)</p>
            <p><a href="/">Overview</a></p>
            """
        return ConsolePage(title: "It did not work", body: body, session: nil).response(status: status)
    }

    /// What no page goes without.
    private static let safeHeaders: HTTPFields = {
        var headers: HTTPFields = [
            .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: """
            default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'
            """,
        ]
        for (name, value) in [
            ("X-Frame-Options", "DENY"), ("Referrer-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return headers
    }()

    private static func frame(_ title: String, _ body: Markup, _ session: ConsoleSessions.Session?) -> String {
        let shown = places.filter { session?.container == nil || managed.contains($0.path) }
        let links = shown.map { place -> Markup in
            let current: Markup = place.name == title ? " aria-current=\"page\"" : ""
            return "<a href=\"\(place.path)\"\(current)>\(place.name)</a>\n"
        }
        let navigation: Markup? = session.map { session in
            """
            <nav aria-label="Console">
            \(Markup(links))\(session.container.map { container -> Markup in "<span>\(container)</span>\n" })<form method="post" action="/sign-out">\(formToken(session, "/sign-out"))<button>Sign out</button></form>
            </nav>
            """
        }
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="robots" content="noindex">
            <title>\(title) – SealKit</title>
            <link rel="stylesheet" href="/console.css">
            </head>
            <body>
            <header><p class="name">SealKit</p>\(navigation)</header>
            <main>
            <h1>\(title)</h1>
            \(body)
            </main>
            </body>
            </html>

            """
        return page.html
    }

    static func formToken(_ session: ConsoleSessions.Session, _ path: String) -> Markup {
        "<input type=\"hidden\" name=\"token\" value=\"\(session.formToken(path))\">"
    }
}
