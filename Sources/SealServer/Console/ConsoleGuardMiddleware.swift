import HTTPTypes
import Hummingbird
import Logging
import SealService
import SealWire

/// Lets nothing through that another site has a browser send: by a name that leads here though it is not this
/// listener's, or by a form of its own.
struct ConsoleGuardMiddleware: RouterMiddleware {
    let host: String?
    let isSecure: Bool

    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority, isOwn(authority) else {
            throw ServerError(
                .permissionFailure, "The console is not known by this name.",
                remedy: "Open it by the address that its server's --console has.")
        }
        if request.method != .get {
            let origin = request.headers[.origin]
            guard origin == nil || origin == "\(isSecure ? "https" : "http")://\(authority)" else {
                throw ServerError(
                    .permissionFailure, "Another site has sent this form.", remedy: "Use the console's own pages.")
            }
        }
        return try await next(request, context)
    }

    private func isOwn(_ authority: String) -> Bool {
        // The port is the listener's: whatever else it says leads nowhere.
        let name = ListenAddress(authority)?.host ?? authority
        return Loopback.contains(name) || Loopback.contains(urlHost: name) || name.lowercased() == host?.lowercased()
    }
}

/// Answers what fails by a page.
struct ConsoleFailureMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: SealRequestContext,
        next: (Request, SealRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            return ConsolePage.failure("There is no such page.", remedy: "Go back to the overview.", status: .notFound)
        } catch {
            let (answer, isInternal) = ServerError.describing(error, requestID: context.id)
            if isInternal {
                context.logger.error(
                    "a page of the console failed",
                    metadata: ["error": "\(error)"].merging(context.logged(request)) { $1 })
            }
            return ConsolePage.failure(
                answer.reason, remedy: answer.remedy, status: .init(code: answer.exactStatus ?? answer.code.httpStatus))
        }
    }
}
