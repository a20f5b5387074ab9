import Foundation
import SealService
import SealStorage

/// The list of containers that several pages begin with.
extension Console {
    private static let containersPerPage = 100

    /// What a form chooses the container by; whoever manages one has no choice.
    func containerField(_ fields: FormFields, _ session: ConsoleSessions.Session) -> Markup {
        session.container == nil ? Self.field("Container", "container", fields["container"]) : .none
    }

    /// A page of them as links, and one to the page after it.
    /// - Parameters:
    ///   - path: where a container's link leads, and the list goes on.
    ///   - empty: what the page says where there is none.
    func containerLinks(_ path: String, _ fields: FormFields, empty: String) async throws -> Markup {
        let after = String(decoding: try Self.cursor(fields), as: UTF8.self)
        // One more than a page holds tells whether there is another one.
        let found = try await services.transactions.read { [schemas = services.schemas] in
            try schemas.containers(after: after, limit: Self.containersPerPage + 1, in: $0)
        }
        guard !found.isEmpty else { return "<p>\(empty)</p>" }
        let shown = found.prefix(Self.containersPerPage)
        let links = shown.map { container -> Markup in
            "<li><a href=\"\(path)?\(FormFields.query([("container", container)]))\">\(container)</a></li>\n"
        }
        let last = found.count > shown.count ? shown.last ?? "" : ""
        return """
            <ul>\(Markup(links))</ul>
            \(Self.more(path, "", after: Data(last.utf8), "More"))
            """
    }
}
