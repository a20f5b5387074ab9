import Foundation
public import SealKit
import SealWire
import SwiftProtobuf

/// Lies about what there is: in feeds, in lists, and of whole zones.
extension ServerFault {
    /// Feeds and queries leave a record out. A device that knows it has it all the same, and keeps a violation
    /// (`Container.violations()`); one that does not cannot miss it.
    public static func leftOutRecord(_ id: Record.ID) -> ServerFault {
        feeding(.leftOutRecord, id.zoneID) { $0.records.removeAll { $0.recordName == id.recordName } }
    }

    /// Lists of zones and of changed zones leave a zone out. A device that knows it has it in its lists all the same,
    /// and keeps a violation.
    public static func leftOutZone(_ zone: RecordZone.ID) -> ServerFault {
        ServerFault(.leftOutZone) { call, response in
            guard response.status < 400 else { return }
            if call.isTo("zones/changes") {
                try await response.rewrite(Sealkit_V1_DatabaseChangesResponse.self) { answer in
                    answer.modifications.removeAll { zone.isNamed(by: $0.zoneID, call.path) }
                }
            } else if call.isTo("zones/lookup"),
                try Sealkit_V1_LookupZonesRequest(serializedBytes: call.body).zones.isEmpty
            {
                try await response.rewrite(Sealkit_V1_LookupZonesResponse.self) { answer in
                    answer.results.removeAll { zone.isNamed(by: $0.zone.zoneID, call.path) }
                }
            }
        }
    }

    /// A zone's feed shows nothing, and the list of changed zones does not name it. What a device knows it has all the
    /// same; one that is new sees an empty zone, and later refuses what was there before (`rollback`, with a
    /// `lateRecord` that its user may accept).
    public static func emptyFeed(of zone: RecordZone.ID) -> ServerFault {
        all(
            .emptyFeed,
            [
                feeding(.emptyFeed, zone) { $0.records = [] },
                rewriting(.emptyFeed, "zones/changes", Sealkit_V1_DatabaseChangesResponse.self) { call, answer in
                    answer.modifications.removeAll { zone.isNamed(by: $0.zoneID, call.path) }
                },
            ])
    }

    /// A zone's feed has nothing, and more to come. Seen as `serverRejectedRequest`, at the first such part.
    public static func endlessFeed(of zone: RecordZone.ID) -> ServerFault {
        feeding(.endlessFeed, zone) { ($0.records, $0.moreComing) = ([], true) }
    }

    /// A zone's feed is a million empty elements. Seen as `serverRejectedRequest`, before anything is decoded.
    public static func floodedFeed(of zone: RecordZone.ID) -> ServerFault {
        feeding(.floodedFeed, zone) { $0.records = Array(repeating: Sealkit_V1_Record(), count: 1_000_000) }
    }

    /// The server says that there is no such zone, wherever it is asked for it, and gives out no roster that would say
    /// why. Seen as `rollback` by devices that know it; what is kept of it stays.
    public static func deniedZone(_ zone: RecordZone.ID) -> ServerFault {
        all(.deniedZone, [lookups(.deniedZone, deny: zone), rosters(deny: zone), contents(deny: zone)])
    }

    /// The list of changed zones says that a zone is gone, which nobody has signed. Seen as `rollback`.
    /// - Parameters:
    ///   - zone: which is still there.
    ///   - isPurged: as if its user had purged it, so that apps would drop what they keep of it.
    public static func deletedZone(_ zone: RecordZone.ID, isPurged: Bool = false) -> ServerFault {
        all(
            .deletedZone,
            [
                rewriting(.deletedZone, "zones/changes", Sealkit_V1_DatabaseChangesResponse.self) { call, answer in
                    answer.modifications.removeAll { zone.isNamed(by: $0.zoneID, call.path) }
                    answer.deletions.append(
                        .with {
                            $0.zoneID = zone.onWire
                            $0.reason = isPurged ? 2 : 1
                        })
                },
                lookups(.deletedZone, deny: zone),
            ])
    }

    // MARK: Making

    private static var gone: Sealkit_V1_Failure { Sealkit_V1_Failure(.zoneNotFound, "There is no such zone.") }

    /// Changes a zone's feed, whether it is asked for alone or with others.
    private static func feeding(
        _ kind: Kind, _ zone: RecordZone.ID,
        _ change: @escaping @Sendable (inout Sealkit_V1_RecordChangesResponse) -> Void
    ) -> ServerFault {
        all(
            kind,
            [
                rewriting(kind, "records/changes", Sealkit_V1_RecordChangesResponse.self) { call, answer in
                    let asked = try Sealkit_V1_RecordChangesRequest(serializedBytes: call.body).zone
                    if zone.isNamed(by: asked, call.path) { change(&answer) }
                },
                rewriting(kind, "changes/zone", Sealkit_V1_ZonesRecordChangesResponse.self) { call, answer in
                    for index in answer.zones.indices where zone.isNamed(by: answer.zones[index].zone, call.path) {
                        if case .changes = answer.zones[index].outcome { change(&answer.zones[index].changes) }
                    }
                },
                rewriting(kind, "records/query", Sealkit_V1_QueryRecordsResponse.self) { call, answer in
                    let asked = try Sealkit_V1_QueryRecordsRequest(serializedBytes: call.body).zone
                    guard kind == .leftOutRecord, zone.isNamed(by: asked, call.path) else { return }
                    var shown = Sealkit_V1_RecordChangesResponse.with { $0.records = answer.matches.map(\.record) }
                    change(&shown)
                    let left = Set(shown.records.map(\.recordName))
                    answer.matches.removeAll { !left.contains($0.record.recordName) }
                },
            ])
    }

    private static func lookups(_ kind: Kind, deny zone: RecordZone.ID) -> ServerFault {
        rewriting(kind, "zones/lookup", Sealkit_V1_LookupZonesResponse.self) { call, answer in
            for index in answer.results.indices where zone.isNamed(by: answer.results[index].zone.zoneID, call.path) {
                answer.results[index] = .with {
                    $0.zoneID = zone.onWire
                    $0.failure = gone
                }
            }
        }
    }

    private static func rosters(deny zone: RecordZone.ID) -> ServerFault {
        rewriting(.deniedZone, "rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { call, answer in
            let asked = try Sealkit_V1_FetchRostersRequest(serializedBytes: call.body).rosters
            for index in answer.rosters.indices where index < asked.count {
                guard zone.isNamed(by: asked[index].zone, call.path) else { continue }
                answer.rosters[index] = .with {
                    $0.zone = asked[index].zone
                    $0.failure = gone
                }
            }
        }
    }

    private static func contents(deny zone: RecordZone.ID) -> ServerFault {
        ServerFault(.deniedZone) { call, response in
            let asked: Sealkit_V1_ZoneID
            if call.isTo("records/lookup") {
                asked = try Sealkit_V1_LookupRecordsRequest(serializedBytes: call.body).zone
            } else if call.isTo("records/changes") {
                asked = try Sealkit_V1_RecordChangesRequest(serializedBytes: call.body).zone
            } else if call.isTo("records/query") {
                asked = try Sealkit_V1_QueryRecordsRequest(serializedBytes: call.body).zone
            } else if call.isTo("records/modify") {
                asked = try Sealkit_V1_ModifyRecordsRequest(serializedBytes: call.body).zone
            } else if call.isTo("changes/zone"), response.status < 400 {
                return try await response.rewrite(Sealkit_V1_ZonesRecordChangesResponse.self) { answer in
                    for index in answer.zones.indices where zone.isNamed(by: answer.zones[index].zone, call.path) {
                        answer.zones[index].failure = gone
                    }
                }
            } else {
                return
            }
            if zone.isNamed(by: asked, call.path) { response = try .saying(gone, status: 404) }
        }
    }
}
