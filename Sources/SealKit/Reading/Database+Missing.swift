import Foundation
import SealClient
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// What a reading from the beginning did not bring, though this device knows it to be there: only a statement takes it
/// away.
extension Database {
    /// Asks what has become of such records, once nothing more is coming: all at once, whatever there is of them. Where
    /// nothing is missing, nothing is asked.
    ///
    /// One that is there all the same, and that the feed does not go on with either, the server left out, which is kept
    /// as a violation.
    /// - Parameter beginning: the moment at which the reading began. Where its parts are not known any more, what this
    ///   device has met only since then has come by it.
    /// - Returns: the records, their deletions, or why neither is believed: `rollback` where the server shows nothing.
    /// - Throws: why it could not be asked.
    func missing(
        from reader: FeedReader, and last: FeedReading.Part, since beginning: Int64? = nil, _ zoneID: RecordZone.ID,
        desiredKeys: [String]?, in ground: ZoneGround
    ) async throws(SealKitError) -> [Found] {
        let came = reader.names(beside: last)
        let names = try await core.trust.living(
            in: ground.place, scopes: RecordGround.zone(ground).readableScopes,
            since: reader.isComplete ? nil : beginning
        ) { !came.contains($0) }
        guard !names.isEmpty else { return [] }
        let ids = names.map { Record.ID(recordName: $0, zoneID: zoneID) }
        let found: [Found]
        do throws(SealKitError) {
            found = try await find(ids, in: zoneID, from: .zone(ground), desiredKeys: desiredKeys).found
        } catch let error where !error.concernsWholeRequest {
            return ids.map { Found(id: $0, wire: nil, outcome: .failure(error)) }
        }
        let present = found.filter(\.isRecord)
        if !present.isEmpty, reader.isComplete {
            // Written since, by this device as well: the feed goes on with it.
            let since = try await namesInFeed(
                of: ground, after: Data(last.end), among: Set(present.map(\.id.recordName)))
            for one in present where !since.contains(one.id.recordName) {
                _ = await core.noted(Database.leftOut(one.id), zone: zoneID, record: one.id.recordName)
            }
        }
        // What is held back until it is where its parent is comes by no feed.
        return found.filter { if case .failure(let error) = $0.outcome { error.code != .unknownItem } else { true } }
    }

    /// Which of these a feed names after a place. Nothing of it is believed but that it is named.
    /// - Throws: `serverRejectedRequest` for a server that names others without end.
    private func namesInFeed(
        of ground: ZoneGround, after start: Data, among wanted: Set<String>
    ) async throws(SealKitError) -> Set<String> {
        var names: Set<String> = []
        var others = 0
        var place = start
        let reader = FeedReader(isWhole: false)
        while true {
            let request = Sealkit_V1_RecordChangesRequest.with {
                $0.zone = ground.zone.zoneIDOnWire
                $0.token = place
                $0.desiredKeys = Sealkit_V1_DesiredKeys([])
            }
            let response: Sealkit_V1_RecordChangesResponse = try await core.call(
                scope, Endpoints.records.changes, request)
            let part = reader.part(
                response.records, from: place, to: response.token, isMoreComing: response.moreComing)
            try reader.check(part)
            reader.take(part)
            names.formUnion(response.records.lazy.map(\.recordName).filter(wanted.contains))
            guard response.moreComing, names.count < wanted.count else { return names }
            others += response.records.count
            guard others <= Database.mostUnreadable else { throw Database.endless(zoneID(ground.zone.zoneIDOnWire)) }
            place = response.token
        }
    }

    private static func leftOut(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .rollback, "the server left record \(id.recordName) out of the zone's feed, and has it",
            remedy:
                "it was asked for, and nothing is missing of what this device knows; distrust a server that keeps doing so"
        )
    }

    /// Reads a zone from its beginning, without a trace in what the app has read of it, and gives what does not hold.
    /// - Throws: what concerns the whole zone; `serverRejectedRequest` for a server that gives what nobody has signed
    ///   without end.
    func failuresOfReading(_ zoneID: RecordZone.ID) async throws(SealKitError) -> [SealKitError] {
        let database = fetchingAssets(.onDemand).readingAhead()
        let reader = FeedReader(isWhole: true)
        var failures: [SealKitError] = []
        var token: ServerChangeToken?
        var isMore = true
        while isMore {
            let changes = try await database.unmarkedChanges(inZoneWith: zoneID, since: token, desiredKeys: [], reader)
            failures += changes.modifications.compactMap {
                if case .failure(let error) = $0.result { error } else { nil }
            }
            guard failures.count <= Database.mostUnreadable else { throw Database.endless(zoneID) }
            (token, isMore) = (changes.changeToken, changes.moreComing)
        }
        return failures
    }

    /// Records that verify nobody makes up; others a server could name without end.
    static let mostUnreadable = 100_000

    static func endless(_ zoneID: RecordZone.ID) -> SealKitError {
        SealKitError(
            .serverRejectedRequest,
            "the server names more than \(mostUnreadable) records of the zone \(zoneID) that do not verify",
            remedy: "try again; distrust a server that keeps doing so")
    }

    /// As `recordZoneChanges`, without a trace in what the app has read of the zone.
    func unmarkedChanges(
        inZoneWith zoneID: RecordZone.ID, since token: ServerChangeToken?, desiredKeys: [String]? = nil,
        _ reader: FeedReader
    ) async throws(SealKitError) -> RecordZoneChanges {
        try await changes(
            in: try await page(
                zoneID, ZoneChangesConfiguration(previousServerChangeToken: token, desiredKeys: desiredKeys), reader),
            marking: false)
    }
}
