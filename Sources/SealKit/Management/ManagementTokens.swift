import SealWire
import SwiftProtobuf

public import struct Foundation.Date

/// Making, listing and revoking the management tokens of containers, with the operator's token.
///
/// Every call throws `notAuthenticated` for a token that is not good, and `permissionFailure` for one that is not the
/// operator's.
public struct ManagementTokens: Sendable {
    private let client: Client
    private let token: ManagementToken

    /// - Parameters:
    ///   - operatorToken: the one in the server's secrets folder.
    ///   - transport: what reaches the server.
    public init(operatorToken: ManagementToken, transport: any Transport) {
        token = operatorToken
        client = Client(transport: transport)
    }

    /// A token as the server lists it: without the secret, of which it keeps a hash only.
    public struct Entry: Sendable, Hashable, Identifiable {
        public let id: String
        /// The container that it is good for.
        public let containerIdentifier: String
        /// For people: what it was made for.
        public let name: String
        /// When it was made, by the server's clock.
        public let creationDate: Date
        /// Nil: good until it is revoked.
        public let expirationDate: Date?

        init(_ wire: Sealkit_V1_ManagementToken) {
            id = wire.id
            containerIdentifier = wire.container
            name = wire.name
            creationDate = Date(microseconds: wire.created)
            expirationDate = wire.expires == 0 ? nil : Date(microseconds: wire.expires)
        }
    }

    /// Makes a token that is good for one container, in both environments.
    /// - Parameter containerIdentifier: of the container that it manages.
    /// - Parameter name: what lists call it.
    /// - Parameter lifetime: seconds; nil for a token that is good until it is revoked.
    /// - Returns: the token, which nobody can ask for again.
    /// - Throws: as the type says; `badContainer`; `invalidArguments` for a name that is not printable ASCII, 1 to
    ///   255 bytes of it, and for a lifetime beyond 200 years; `limitExceeded` for a container that has too many.
    public func create(
        for containerIdentifier: String, name: String, lifetime: UInt64? = nil
    ) async throws(SealKitError) -> (entry: Entry, token: ManagementToken) {
        let request = Sealkit_V1_CreateManagementTokenRequest.with {
            $0.container = containerIdentifier
            $0.name = name
            $0.lifetime = lifetime ?? 0
        }
        // Not repeated: a lost answer would leave a second token.
        let answer: Sealkit_V1_CreateManagementTokenResponse = try await client.call(
            Endpoints.management.createToken, request, token: token.text())
        return (Entry(answer.token), try ManagementToken(answer.secret))
    }

    /// More than any operator makes.
    private static let most = 100_000

    /// - Parameter containerIdentifier: nil for all.
    /// - Throws: `serverRejectedRequest` for a list that goes in circles, or on without end.
    public func list(for containerIdentifier: String? = nil) async throws(SealKitError) -> [Entry] {
        var (entries, ids, request) = ([Entry](), Set<Entry.ID>(), Sealkit_V1_ListManagementTokensRequest())
        request.container = containerIdentifier ?? ""
        while true {
            let answer: Sealkit_V1_ListManagementTokensResponse = try await client.call(
                Endpoints.management.listTokens, request, token: token.text())
            entries += answer.tokens.map(Entry.init)
            guard answer.moreComing else { return entries }
            // Each part has others than those before, and there is an end to them.
            let isFresh = answer.tokens.allSatisfy { ids.insert($0.id).inserted }
            guard let last = answer.tokens.last, isFresh, entries.count <= Self.most else {
                throw SealKitError(
                    .serverRejectedRequest, "the server's list of management tokens does not go on where it says so")
            }
            request.after = last
        }
    }

    /// The token is no good any more, at once.
    /// - Throws: `unknownItem`; `serverResponseLost`: revoke it again, and `unknownItem` says that it was done.
    public func revoke(_ id: Entry.ID) async throws(SealKitError) {
        let _: Sealkit_V1_RevokeManagementTokenResponse = try await client.call(
            Endpoints.management.revokeToken, Sealkit_V1_RevokeManagementTokenRequest.with { $0.id = id },
            token: token.text())
    }
}
