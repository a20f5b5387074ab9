import Foundation
import SealEnvelope
import SealStatements
import SealWire

extension Account {
    /// Deletes this account on its server for ever, with everything that it owns there: zones, records and assets of all its
    /// containers, subscriptions, server-to-server keys, linked addresses, recovery bundles, every device's session. Then it is
    /// removed from its ``keyStore``.
    ///
    /// Its shares end, and it leaves those of others, by signed entries: participants see that the zones are gone, and the next
    /// of them who writes opens a new key. What it wrote into others' zones is theirs and stays; so does what it published in
    /// public databases, as with CloudKit: delete that before if it is to go. Nobody gets its names again.
    ///
    /// It can be repeated: what was cut short is gone on with, and an account that is deleted already is no error.
    /// - Parameter trust: what this device has verified as this account; nil takes each share as the server shows it now, also one
    ///   with a fork that only its owner could end. Nothing is read there any more, so that all it can lie about is what is left.
    /// - Throws: `unknownItem` when the server has never had the account; `rollback`, `integrityFailure` for a share that is not
    ///   what this device has verified; `networkFailure`.
    public func delete(trust: TrustStore? = nil) async throws(SealKitError) {
        var tries = 0
        while true {
            do throws(SealKitError) {
                try await endShares(trust)
            } catch where error.code == .notAuthenticated {
                // It may be deleted already: the answer to the deletion says so.
            }
            do throws(SealKitError) {
                try await session.delete()
                break
            } catch where error.code == .constraintViolation && tries < 4 {
                // Somebody has joined meanwhile, or another device has.
                tries += 1
            }
        }
        standing.note(.noAccount)
        try await keyStore?.delete()
    }

    /// Leaves all shares of others, and deletes all zones that are shared.
    private func endShares(_ trust: TrustStore?) async throws(SealKitError) {
        for identifier in try await containers() {
            for environment in [Container.Environment.production, .development] {
                let container = try Container(identifier, environment: environment, account: self, trust: trust)
                let (own, shared) = (container.privateDatabase, container.sharedDatabase)
                for zone in try await shared.allRecordZones() { try await shared.leaveShare(of: zone.zoneID) }
                for zone in try await own.allRecordZones() {
                    if !zone.isShared, try await own.openShares(in: own.zoneScope(zone.zoneID)).isEmpty { continue }
                    try await own.deleteRecordZone(withID: zone.zoneID)
                }
            }
        }
    }

    /// Where the account has an identity, as the server says; what is not this account's own name it makes nobody register.
    private func containers() async throws(SealKitError) -> [String] {
        let me: Sealkit_V1_AccountResponse = try await exchange("accounts/me", .none) { token throws(SealKitError) in
            try Client.decode(try await client.transport.get("/1/accounts/me", token: token))
        }
        var containers: [String] = []
        for identity in me.identities {
            let parts = identity.split(separator: "/").map(String.init)
            guard parts.count == 2, let container = try? Container(parts[0], account: self),
                container.core.userID().recordName == parts[1]
            else {
                throw SealKitError(
                    .serverRejectedRequest, "the server names an identity of this account that is not its own",
                    remedy: "ask whoever runs the server")
            }
            containers.append(parts[0])
        }
        return containers
    }
}
