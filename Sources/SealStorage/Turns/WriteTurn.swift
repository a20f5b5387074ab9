/// In whose name, and for which route, the task at hand reads and writes. Requests take turns by it, and the budget of
/// time binds their writes; the server's own work has none.
///
/// It goes with the task, not with each call: no route can forget it. Work that a request only sets off has to be
/// detached.
package struct WriteTurn: Sendable {
    package let payer: Payer
    package let route: Route

    package init(payer: Payer, route: Route) {
        self.payer = payer
        self.route = route
    }

    /// Who is counted: the account; without one, the client's address.
    package enum Payer: Hashable, Sendable {
        case account(Int64)
        case client([UInt8])
    }

    /// As the request has them: nothing is put together for those that end in good time.
    package struct Route: Sendable, Hashable, CustomStringConvertible {
        package let method: String
        /// The template of the path.
        package let path: String

        package init(method: String, path: String) {
            self.method = method
            self.path = path
        }

        /// As the log names it.
        package var description: String { "\(method) \(path)" }
    }

    @TaskLocal package static var current: WriteTurn?
}
