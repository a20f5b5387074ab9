import SealPrimitives
import SealStatements
import SealStorage
package import SealWire
import SwiftProtobuf

/// Says who is behind user record names and proven addresses: the keys that an invitation is sealed to. Who has an
/// address is told only where they allowed it: everything else about it is as if nobody had it.
package struct LookUpIdentities: Sendable {
    /// In one request.
    package static let mostHandles = 100

    private let transactions: Transactions
    private let rates: RequestRates
    private let addresses: AddressHasher

    package init(transactions: Transactions, rates: RequestRates, addresses: AddressHasher) {
        self.transactions = transactions
        self.rates = rates
        self.addresses = addresses
    }

    /// What a handle is looked up by. Addresses are hashed before the database is asked.
    private enum Handle: Sendable {
        case user(UserID)
        case address([UInt8])
    }

    /// - Returns: one result a handle, in order; one without a chain for a person whom nobody here is known to be.
    /// - Throws: `badContainer`, `limitExceeded`, `requestRateLimited`.
    package func run(
        _ message: Sealkit_V1_LookupIdentitiesRequest, by session: Session
    ) async throws -> Sealkit_V1_LookupIdentitiesResponse {
        let container = try Names.requireContainer(message.container)
        guard message.handles.count <= Self.mostHandles else {
            throw ServerError(
                .limitExceeded, "One request looks up at most \(Self.mostHandles) handles.",
                remedy: "Split the request.")
        }
        let handles = message.handles.map { info in Result { () throws(ServerError) in try handle(info) } }
        // By account, not by session: logging in again must not give another try at guessing who has an account.
        try await rates.countForAll(.lookup, .account(session.accountID), amount: handles.count)
        let found = try await transactions.read { connection in
            try handles.map { handle -> Sealkit_V1_IdentityChain? in
                switch try? handle.get() {
                case nil: return nil
                case .user(let user):
                    return try Identities.wireChain(user: user, container: container, isLive: true, in: connection)
                case .address(let hash):
                    return try Identities.wireChain(discoverableAddress: hash, container: container, in: connection)
                }
            }
        }
        return .with {
            $0.results = zip(message.handles, zip(handles, found)).map { info, result in
                .with {
                    $0.handle = info
                    if case .failure(let error) = result.0 { $0.failure = error.failure }
                    if let chain = result.1 { $0.chain = chain }
                }
            }
        }
    }

    private func handle(_ info: Sealkit_V1_LookupInfo) throws(ServerError) -> Handle {
        switch info.handle {
        case .userRecordName(let name):
            guard let user = try? UserID(recordName: name) else {
                throw ServerError(
                    .invalidArguments, "This is not a user record name.",
                    remedy: "A user record name is an underscore and 32 lower-case hexadecimal digits.")
            }
            return .user(user)
        case .email(let text): return .address(addresses.hash(try Address(email: text)))
        case .phone(let text): return .address(addresses.hash(try Address(phone: text)))
        case nil:
            throw ServerError(
                .invalidArguments, "The handle names nobody.",
                remedy: "Give a user record name, an e-mail address or a phone number.")
        }
    }
}
