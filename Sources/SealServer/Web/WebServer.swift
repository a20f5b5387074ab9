/// Whose shares a page of the web client shows, from that page's side.
package enum WebServer: Sendable, Equatable {
    /// The server that the page comes from.
    case here
    /// A server at another origin, to which the page's own origin passes calls on.
    case behind(String)
    /// A server at another origin, which the page calls itself: one that names the page's origin (`--web-at`).
    case at(String)

    /// As the page has it; empty for where the page is.
    var origin: String {
        switch self {
        case .here: ""
        case .behind(let origin), .at(let origin): origin
        }
    }

    /// What stands before the path of a call; empty for where the page is.
    var calls: String {
        switch self {
        case .here, .behind: ""
        case .at(let origin): origin
        }
    }
}
