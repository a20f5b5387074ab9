import Foundation
import Hummingbird
import SealPrimitives
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// `GET /1/limits`: what this server limits, who may make an account, its name, and how it sends codes, for everybody.
/// `GET /1/accounts/usage`: how much of it an account has used.
struct LimitsController: Sendable {
    let transactions: Transactions
    let rates: RequestRates
    let quotas: Quotas
    let origin: ServerOrigin
    let outbox: Outbox
    let configuration: ServerConfiguration
    let webBundle: WebBundle?

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.server.limits) { _ in limits() }
        router.on(Endpoints.accounts.usage) { try await usage($0) }
    }

    private func limits() -> Sealkit_V1_LimitsResponse {
        .with {
            $0.limits = LimitTable.all(configuration, rates.limits)
            $0.registration = configuration.registration.rawValue
            $0.origin = origin.value
            if let webBundle { $0.webBundle = Data(webBundle.hash.bytes) }
            for (kind, word) in [(Address.Kind.email, "mail"), (.phone, "text")] where outbox.carries(kind) {
                $0.codes.append(word)
                if outbox.states[kind] == .failing { $0.codes.append(word + "-failing") }
            }
        }
    }

    private func usage(_ call: SessionCall) async throws -> Sealkit_V1_StorageUsageResponse {
        let session = call.session
        let quotas = self.quotas
        let answer = try await transactions.read { connection in
            var answer = Sealkit_V1_StorageUsageResponse()
            if let total = try StorageUsage.total(of: session.accountID, in: connection) {
                answer.records = UInt64(clamping: total.records)
                answer.bytes = UInt64(clamping: total.bytes)
            }
            let own = try StorageUsage.standing(of: session.accountID, in: connection).quota
            answer.bytesLimit = UInt64(clamping: quotas.storageLimit(own: own))
            answer.containers = try StorageUsage.containers(of: session.accountID, in: connection)
            return answer
        }
        return answer
    }
}
