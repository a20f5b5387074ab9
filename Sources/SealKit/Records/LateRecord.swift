public import Foundation
import SealClient
import SealPrimitives
import SealStatements

/// A record that is good in itself and that this device refuses (`rollback`): it is under a key that this device has
/// read past, and was not among what the server showed then.
///
/// Either the server kept it back then, or somebody who had that key has written it since, a removed participant for
/// instance. Nothing in it tells which: ask whoever signed it, and accept it (`Database.accept(_:)`) if they say that
/// it is theirs.
public struct LateRecord: Sendable, Hashable {
    /// The record that came late.
    public let recordID: Record.ID
    /// Its type.
    public let recordType: String
    /// Who signed it.
    public let authorUserRecordID: Record.ID
    /// When, by its author's clock.
    public let signed: Date
    /// Whether the zone still vouches for its author: its signed roster, as it is now, lets the author write by the key
    /// that signed this. A participant accepts no others; the zone's owner, who says who may write, may.
    public let isAuthorVouchedFor: Bool
    let hash: Digest

    init(_ sighting: Sighting, _ zoneID: RecordZone.ID, isAuthorVouchedFor: Bool) {
        let statement = sighting.statement
        recordID = Record.ID(recordName: statement.recordName, zoneID: zoneID)
        recordType = statement.recordType
        authorUserRecordID = Record.ID(recordName: statement.author.recordName)
        signed = Date(microseconds: statement.clientTime)
        self.isAuthorVouchedFor = isAuthorVouchedFor
        hash = sighting.hash
    }
}

extension Database {
    /// All late records of a zone: it is read from its beginning, without a trace in what the app has read of it.
    /// - Throws: as `recordZoneChanges`.
    public func lateRecords(inZoneWith zoneID: RecordZone.ID) async throws(SealKitError) -> [LateRecord] {
        try await failuresOfReading(zoneID).compactMap(\.lateRecord)
    }

    /// Takes late records over at the user's word: what their authors, or others who have seen them, have said to be
    /// theirs. Each is looked up again, and counts from then on as if it had been seen in time. `Container.audit()`
    /// lists what was accepted.
    ///
    /// - Parameter records: as `SealKitError.lateRecord` gave them.
    /// - Returns: each as it is, nil for a deletion. `serverRecordChanged` where the server shows another version than
    ///   the one that was accepted, and that one is late too; `permissionFailure` where nobody vouches for the author
    ///   any more: who has seen the record may write it again, or seal it again (`rekey(_:progress:)`).
    /// - Throws: whatever concerns the whole request.
    public func accept(_ records: [LateRecord]) async throws(SealKitError) -> [Record.ID: Result<Record?, SealKitError>]
    {
        try await core.requireAccount(for: scope)
        var results: [Record.ID: Result<Record?, SealKitError>] = [:]
        var zones = ZoneOutcomes()
        for (zoneID, records) in Dictionary(grouping: records, by: \.recordID.zoneID) {
            let wanted = Dictionary(records.map { ($0.recordID, $0) }) { $1 }
            do {
                let ground = try await refreshed(try await zoneGround(zoneID))
                let found = try await find(
                    Array(wanted.keys), in: zoneID, from: .zone(ground), desiredKeys: nil,
                    accepting: Set(records.map(\.hash))
                ).found
                for one in found { results[one.id] = await accepted(one, as: wanted[one.id]) }
                zones.succeeded()
            } catch {
                zones.failed(error)
                for id in wanted.keys { results[id] = .failure(error) }
            }
        }
        try zones.throwCommonFailure()
        return results
    }

    private func accepted(_ found: Found, as wanted: LateRecord?) async -> Result<Record?, SealKitError> {
        switch found.outcome {
        case .success(.record(let record)): return await materialize(record).map { .some($0) }
        case .success(.unopened(let there)): return .failure(there.error)
        case .success(.deletion): return .success(nil)
        case .failure(let error):
            guard let late = error.lateRecord else { return .failure(error) }
            guard late.hash == wanted?.hash else {
                return .failure(
                    SealKitError(
                        .serverRecordChanged,
                        "the server shows another version of record \(late.recordID.recordName) than was accepted",
                        remedy: "look at that one", lateRecord: late))
            }
            return .failure(
                SealKitError(
                    .permissionFailure,
                    "record \(late.recordID.recordName) was signed by \(late.authorUserRecordID.recordName), who may not write there any "
                        + "more by that key",
                    remedy:
                        "somebody who has seen it may write it again, or seal it again with rekey(_:); the owner may accept it",
                    lateRecord: late))
        }
    }

    /// Of what the user has accepted, what this device may take over.
    func acceptable(
        _ hashes: Set<Digest>, of readings: [Result<RecordReader.Reading, SealKitError>], in ground: RecordGround,
        _ zoneID: RecordZone.ID
    ) -> TrustStore.LateStatements? {
        guard !hashes.isEmpty, case .zone(let ground) = ground else { return nil }
        let sightings = readings.compactMap { try? $0.get().sighting }
        return TrustStore.LateStatements(
            hashes: ground.acceptable(hashes, of: sightings), container: core.identifier,
            environment: core.environment, zone: zoneID, time: currentTime())
    }

    /// Why what came late is not believed, with what the user may accept.
    static func late(_ sighting: Sighting, in ground: RecordGround, _ zoneID: RecordZone.ID) -> SealKitError {
        var record: LateRecord?
        if sighting.isAcceptable, case .zone(let ground) = ground {
            record = LateRecord(sighting, zoneID, isAuthorVouchedFor: ground.vouches(for: sighting.statement))
        }
        return late(sighting, record)
    }

    /// - Parameter record: what the user may accept; nil where there is nothing to accept.
    static func late(_ sighting: Sighting, _ record: LateRecord? = nil) -> SealKitError {
        let remedy =
            record == nil
            ? "; nothing of it was taken over"
            : ": ask its author, and take it over with accept(_:) if it is theirs; nothing of it was opened"
        return SealKitError(
            .rollback,
            "record \(sighting.recordName) is under an older key than this device has read the zone to, and was not shown to it then",
            remedy: "either the server kept it back then, or somebody who had that key has written it since" + remedy,
            lateRecord: record)
    }
}
