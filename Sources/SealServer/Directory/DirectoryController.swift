import Hummingbird
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Who is behind a user record name or a proven address: the keys that an invitation is sealed to.
struct DirectoryController: Sendable {
    static let mostHandles = 100

    let services: Services

    func addRoutes(to router: Router<SealRequestContext>) {
        router.post("1/directory/lookup") { try await lookup($0, $1) }
    }

    /// What a handle is looked up by. Addresses are hashed before the database is asked.
    private enum Handle: Sendable {
        case user(UserID)
        case address([UInt8])
    }

    /// One result a handle, in order; one without a chain for a person whom nobody here is known to be.
    private func lookup(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let message = try await request.decode(Sealkit_V1_LookupIdentitiesRequest.self, context)
        let container = try IdentityController.container(message.container)
        guard message.handles.count <= Self.mostHandles else {
            throw ServerError(
                .limitExceeded, "One request looks up at most \(Self.mostHandles) handles.",
                remedy: "Split the request.")
        }
        var handles: [Handle] = []
        for (index, info) in message.handles.enumerated() {
            handles.append(try handle(info, index))
        }
        // By account, not by session: logging in again must not give another try at guessing who has an account.
        try services.limiter.count(
            .lookup, .account(session.accountID), amount: handles.count, rule: services.limits.lookup,
            now: services.clock())
        let found = try await services.database.read { [handles] connection in
            try handles.map { handle -> Sealkit_V1_IdentityChain? in
                switch handle {
                case .user(let user):
                    return try Identities.wireChain(user: user, container: container, isLive: true, in: connection)
                case .address(let hash):
                    guard let account = try LinkedAddresses.account(of: hash, in: connection) else { return nil }
                    return try Identities.wireChain(account: account, container: container, in: connection)
                }
            }
        }
        let answer = Sealkit_V1_LookupIdentitiesResponse.with {
            $0.results = zip(message.handles, found).map { info, chain in
                .with {
                    $0.handle = info
                    if let chain { $0.chain = chain }
                }
            }
        }
        return try Response(answer, for: request)
    }

    private func handle(_ info: Sealkit_V1_LookupInfo, _ index: Int) throws(ServerError) -> Handle {
        do {
            switch info.handle {
            case .userRecordName(let name): return .user(try UserID(recordName: name))
            case .email(let text): return .address(services.addresses.hash(try Address(email: text)))
            case .phone(let text): return .address(services.addresses.hash(try Address(phone: text)))
            case nil:
                throw ServerError(
                    .invalidArguments, "It names nobody.",
                    remedy: "Give a user record name, an e-mail address or a phone number.")
            }
        } catch let error as ServerError {
            throw ServerError(error.code, "Handle \(index) is not usable. \(error.reason)", remedy: error.remedy)
        } catch {
            throw ServerError(
                .invalidArguments, "Handle \(index) is not a user record name.",
                remedy: "A user record name is an underscore and 32 lower-case hexadecimal digits.")
        }
    }
}
