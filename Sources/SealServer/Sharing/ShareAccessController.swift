import Hummingbird
import SealService
import SealStorage
import SealWire

/// Asking for access to a share: `share/owner` and `share/request` for strangers with its URL, `share/access/fetch` and
/// `share/access/update` for those who answer.
struct ShareAccessController: Sendable {
    let transactions: Transactions
    let rates: RequestRates
    let clock: @Sendable () -> Int64
    let quotas: Quotas
    let rosters: RosterCache

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.sharing.owner) { try await owner($0, $1) }
        router.on(Endpoints.sharing.requestAccess) { try await ask($0, $1) }
        router.on(Endpoints.sharing.fetchAccess) { try await fetch($0, $1) }
        router.on(Endpoints.sharing.updateAccess) { try await update($0, $1) }
    }

    // MARK: Strangers

    private func owner(
        _ message: Sealkit_V1_ShareOwnerRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_ShareOwnerResponse {
        let now = clock()
        return try await transactions.read { [rosters] connection in
            try AccessAsking(message.routingID, by: call.session, rosters, now: now, in: connection).owner()
        }
    }

    private func ask(
        _ message: Sealkit_V1_RequestShareAccessRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_RequestShareAccessResponse {
        try AccessAsking.check(message)
        let (now, session, rule) = (clock(), call.session, rates.limits.accessRequest)
        let counted = CountedCall(rates)
        try await transactions.write(as: session, behind: message.routingID) { [rosters, quotas] connection, home in
            let counting = counted.run(in: connection)
            try AccessAsking(message.routingID, by: session, rosters, now: now, in: connection)
                .ask(message, quotas, at: home, now: now)
            // Last, as with epochs.
            try counting.count(.accessRequest, .account(session.accountID), rule: rule, now: now)
        }
        return Sealkit_V1_RequestShareAccessResponse()
    }

    // MARK: Owner and administrators

    private func fetch(
        _ message: Sealkit_V1_FetchShareAccessRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_FetchShareAccessResponse {
        try await transactions.read { [rosters] connection in
            try AccessAnswering(
                message.shareRecordName, in: message.zone, by: call.session, call.path, rosters, connection
            ).waiting()
        }
    }

    private func update(
        _ message: Sealkit_V1_UpdateShareAccessRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_UpdateShareAccessResponse {
        let denied = try AccessAnswering.denied(message)
        try await transactions.write(as: call.session, in: message.zone, call.path) { [rosters] connection, home in
            try AccessAnswering(
                message.shareRecordName, in: message.zone, by: call.session, call.path, rosters, connection
            ).update(denied: denied, allows: message.hasAllowsRequests ? message.allowsRequests : nil, at: home)
        }
        return Sealkit_V1_UpdateShareAccessResponse()
    }
}
