import Foundation
import SealWire
import Testing

@testable import SealServer
@testable import SealService

extension LimitProbe {
    private static func rule(_ kind: SendingLimits.Kind, _ window: Int64 = 3_600_000_000)
        -> @Sendable (inout AbuseLimits) -> Void
    {
        { $0.sending.rules = [SendingLimits.Rule(kind: kind, count: 3, window: window)] }
    }

    /// So many codes, each asked for by somebody new, to another address, from another place, for another share: what
    /// `one` does not keep the same.
    private static func codes(
        _ server: RunningServer, _ amount: Int, one: SendingLimits.Kind
    ) async throws -> ErrorCode? {
        // What went before is over.
        server.clock.advance(seconds: 86_400)
        let (prefix, share) = (UUID().uuidString.prefix(8).lowercased(), randomBytes(16))
        var same = try await TestClient.ready(server)
        same.forwardedFor = "203.0.113.\(amount)"
        let known = same
        return try await last(amount) { index in
            var client = known
            if one != .account, one != .accountAndAddress { client = try await TestClient.ready(server) }
            client.forwardedFor = one == .client ? "203.0.113.\(amount)" : "198.51.\(amount).\(index)"
            let address =
                one == .address || one == .accountAndAddress
                ? "\(prefix)@example.org" : "\(prefix)-\(index)@example.org"
            let asking = client
            return try await refusal {
                try await asking.begin(address, routingID: one == .share ? share : randomBytes(16))
            }
        }
    }

    static let codes = [
        LimitProbe(name: "codesPerAccountAndAddress", limit: 3, rules: rule(.accountAndAddress, 900_000_000)) {
            try await codes($0, $1, one: .accountAndAddress)
        },
        LimitProbe(name: "codesPerAccountAndAddressDaily", limit: 3, rules: rule(.accountAndAddress, 86_400_000_000)) {
            try await codes($0, $1, one: .accountAndAddress)
        },
        LimitProbe(name: "codesPerAddress", limit: 3, rules: rule(.address, 900_000_000)) {
            try await codes($0, $1, one: .address)
        },
        LimitProbe(name: "codesPerAddressDaily", limit: 3, rules: rule(.address, 86_400_000_000)) {
            try await codes($0, $1, one: .address)
        },
        LimitProbe(name: "codesPerAccount", limit: 3, rules: rule(.account)) { try await codes($0, $1, one: .account) },
        LimitProbe(name: "codesPerShare", limit: 3, rules: rule(.share)) { try await codes($0, $1, one: .share) },
        LimitProbe(name: "codesPerClient", limit: 3, rules: rule(.client)) { try await codes($0, $1, one: .client) },
        LimitProbe(name: "mailPerHour", limit: 3, rules: rule(.allMail)) { try await codes($0, $1, one: .allMail) },
        LimitProbe(name: "textsPerHour", limit: 3, rules: rule(.allPhones)) { server, amount in
            server.clock.advance(seconds: 86_400)
            return try await last(amount) { index in
                let client = try await TestClient.ready(server)
                return try await refusal { try await client.begin("+493012345\(amount)\(index)") }
            }
        },
    ]
}
