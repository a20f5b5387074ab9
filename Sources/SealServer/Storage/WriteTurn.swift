/// In whose name, and for which route, the task at hand writes. Requests take turns by it, and the budget of time binds them; the
/// server's own work has none.
///
/// It goes with the task, not with each call: no route can forget it. Work that a request only sets off has to be detached.
struct WriteTurn: Sendable {
    /// The account; without one, the client's address.
    let payer: RateLimiter.Subject
    let route: Route

    /// As the request has them: nothing is put together for those that end in good time.
    struct Route: Sendable, Hashable, CustomStringConvertible {
        let method: String
        /// The template of the path.
        let path: String

        /// As the log names it.
        var description: String { "\(method) \(path)" }
    }

    @TaskLocal static var current: WriteTurn?
}
