import Hummingbird
import SealService
import SealStorage
import SealWire

/// `share/place`, `share/metadata`, `share/newcomer` and `share/accept`: what somebody with a link may see and do. The
/// container is the link's.
struct ShareController: Sendable {
    let transactions: Transactions
    let clock: @Sendable () -> Int64
    let quotas: Quotas
    let rosters: RosterCache
    let tokenVerifier: TokenVerifier

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.sharing.place) { try await place($0, $1) }
        router.on(Endpoints.sharing.metadata) { try await metadata($0, $1) }
        router.on(Endpoints.sharing.newcomer) { try await newcomer($0, $1) }
        router.on(Endpoints.sharing.accept) { try await accept($0, $1) }
    }

    private func place(
        _ message: Sealkit_V1_SharePlaceRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_SharePlaceResponse {
        try await transactions.read { [rosters] connection in
            try LinkPlace.answer(message, to: call.session, rosters, in: connection)
        }
    }

    private func metadata(
        _ message: Sealkit_V1_ShareMetadataRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_ShareMetadataResponse {
        let now = clock()
        return try await transactions.read { [rosters] connection in
            try ShareMetadata.answer(message, to: call.session, rosters, now: now, in: connection)
        }
    }

    /// The answer is an empty message.
    private func newcomer(
        _ message: Sealkit_V1_ShareMetadataRequest, _ call: OpenCall
    ) async throws -> Sealkit_V1_AccountResponse {
        let now = clock()
        try await transactions.read { [rosters] connection in
            try Seat.requireForNewcomer(by: message.routingID, rosters, now: now, in: connection)
        }
        return Sealkit_V1_AccountResponse()
    }

    private func accept(
        _ message: Sealkit_V1_AcceptShareRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_AcceptShareResponse {
        let acceptance = try ShareAcceptance(message)
        let now = clock()
        let (response, news) = try await transactions.write(as: call.session, behind: message.routingID) {
            connection, home in
            try acceptance.run(by: call.session, rosters, tokenVerifier, quotas, at: home, now: now, in: connection)
        }
        if let news { call.context.note.noteSharing(news) }
        return response
    }
}
