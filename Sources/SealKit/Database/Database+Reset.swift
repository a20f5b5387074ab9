import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// Says of zones that a lost account had, and that its user's new account does not, that their encrypted data is
    /// gone: apps are told a deletion with the reason `encryptedDataReset`, and `zoneNotFound` with
    /// `userDidResetEncryptedDataKey`, make the zones again and upload what they have.
    ///
    /// A zone that this account has or had is left as it is, so calling it again does nothing.
    ///
    /// - Parameter zoneIDs: whoever their owner was: what counts is the name. The default zone needs none of this.
    /// - Throws: `badDatabase` outside the private database; `invalidArguments` for a name that no zone has.
    public func declareReset(of zoneIDs: [RecordZone.ID]) async throws(SealKitError) {
        guard scope == .private else {
            throw SealKitError(.badDatabase, "zones are a user's own in the private database", remedy: "use it instead")
        }
        for name in Set(zoneIDs.map(\.zoneName)).sorted() where name != Names.defaultZone {
            guard Names.isCustomZone(name) else {
                throw SealKitError(
                    .invalidArguments, "\"\(name)\" is no name of a zone", remedy: "name the zones that the app made")
            }
            try await declareReset(try core.scope(of: RecordZone.ID(zoneName: name)))
        }
    }

    /// Opened and closed in one request: nobody finds it in between.
    private func declareReset(_ zone: SealStatements.Scope) async throws(SealKitError) {
        let keeper = core.keeper(of: zone)
        guard try await keeper.present() == nil else { return }
        var random = SystemRandom()
        let (opening, closing) = try verifying("the zone \(zone.zoneName)") { () throws(SealError) in
            let opening = try core.author.open(
                zone, following: nil, encryptionScope: .perRecord, identity: core.identity().chain, time: currentTime(),
                random: &random)
            let roster = try Roster(opening: opening.entry, scope: zone)
            return (opening, core.author.plain(.close, on: roster, time: currentTime()))
        }
        let request = Sealkit_V1_ModifyZonesRequest.with {
            $0.operationID = newOperationID()
            $0.saves = [Sealkit_V1_ZoneSave(zone, opening)]
            $0.deletes = [
                .with {
                    $0.zoneID = zone.zoneIDOnWire
                    $0.close = closing.entry.wire
                    $0.reason = UInt32(DatabaseChanges.DeletionReason.encryptedDataReset.rawValue)
                }
            ]
        }
        let response: Sealkit_V1_ModifyZonesResponse = try await core.call(scope, Endpoints.zones.modify, request)
        for result in response.results {
            // Another device was faster: what it has made counts.
            if case .failure(let failure)? = result.outcome, failure.errorCode != .rosterChanged {
                throw SealKitError(failure)
            }
        }
        _ = try await keeper.refresh()
    }
}
