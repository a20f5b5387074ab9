import Foundation
import SealClient
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Where a feed was read to: opaque, to be kept by the app. Tokens of zones and databases are not interchangeable.
public struct ServerChangeToken: Sendable, Hashable, Codable {
    let bytes: Data
    /// nil for a database's token.
    let zone: String?
    /// Of a reading that began without a token and has not come to its end; nil otherwise.
    var isFromBeginning: Bool?
    /// The trust store's moment at which such a reading of a zone began.
    var beganAt: Int64?
}

extension Database {
    /// CloudKit's name for what a zone's feed is made of.
    public enum RecordZoneChange {
        /// A record that was made or changed.
        public struct Modification: Sendable {
            /// As it is now.
            public let record: Record
        }
    }

    /// What changed in a zone since a token: an answer of its feed.
    public struct RecordZoneChanges: Sendable {
        /// Each changed record once, in its latest version, in feed order.
        public var modifications: [(recordID: Record.ID, result: Result<Record, SealKitError>)]
        /// What was deleted, and of which type it was. Each deletion is signed and was verified.
        public var deletions: [(recordID: Record.ID, recordType: String)]
        /// For the next reading. Keep it once all of this answer is in the app's own store.
        public var changeToken: ServerChangeToken
        /// More is there now: ask again with the token.
        public var moreComing: Bool

        /// `modifications` by their ids, in no order: `try result.get().record`, as in CloudKit.
        public var modificationResultsByID: [Record.ID: Result<RecordZoneChange.Modification, SealKitError>] {
            Dictionary(modifications.map { ($0.recordID, $0.result.map { RecordZoneChange.Modification(record: $0) }) })
            { $1 }
        }
    }

    /// What changed in a zone since a token; nil for everything.
    ///
    /// Records come with the contents of their assets unless the database is ``fetchingAssets(_:)`` on demand. As many
    /// come at once as have room for their assets (``TemporaryAssets``). A record whose assets alone have none beside
    /// those of the records in memory is `limitExceeded` in the answer, whose token is past it: let go of records, or
    /// start again from the token before with `.onDemand`.
    ///
    /// A reading that begins without a token is held against what this device knows: what did not come is asked for
    /// when nothing more is coming, and is part of that answer, as the record, as its deletion, or as that record's
    /// `rollback`.
    /// - Parameter zoneID: of the zone.
    /// - Parameter token: of the answer before; nil for everything.
    /// - Parameter desiredKeys: nil for all fields, empty for system fields only.
    /// - Parameter resultsLimit: nil lets the server decide; it may give fewer.
    /// - Throws: `changeTokenExpired` (start again from nil), `zoneNotFound`; `serverRejectedRequest` for a server that
    ///   goes in circles; a deletion that does not verify is an `integrityFailure` of the whole answer, since it must
    ///   not be applied. What keeps the first record's assets from coming for now, such as `networkFailure` or
    ///   `storageFull`: ask again with the same token. Where that is another record, the answer ends before it, and
    ///   more is coming.
    public func recordZoneChanges(
        inZoneWith zoneID: RecordZone.ID, since token: ServerChangeToken? = nil, desiredKeys: [String]? = nil,
        resultsLimit: Int? = nil
    ) async throws(SealKitError) -> RecordZoneChanges {
        try await fitting(
            try await page(
                zoneID,
                ZoneChangesConfiguration(
                    previousServerChangeToken: token, resultsLimit: resultsLimit, desiredKeys: desiredKeys)))
    }

    /// What is asked of one zone among many: CloudKit's `ZoneConfiguration`.
    public struct ZoneChangesConfiguration: Sendable, Hashable {
        /// nil for everything.
        public var previousServerChangeToken: ServerChangeToken?
        /// nil lets the server decide; it may give fewer.
        public var resultsLimit: Int?
        /// nil for all fields, empty for system fields only.
        public var desiredKeys: [String]?

        /// - Parameters:
        ///   - previousServerChangeToken: of the answer before; nil for everything.
        ///   - resultsLimit: nil lets the server decide; it may give fewer.
        ///   - desiredKeys: nil for all fields, empty for system fields only.
        public init(
            previousServerChangeToken: ServerChangeToken? = nil, resultsLimit: Int? = nil, desiredKeys: [String]? = nil
        ) {
            self.previousServerChangeToken = previousServerChangeToken
            self.resultsLimit = resultsLimit
            self.desiredKeys = desiredKeys
        }
    }

    /// What changed in many zones, each since its own token, in one request.
    ///
    /// As with one zone, assets come along unless the database is ``fetchingAssets(_:)`` on demand.
    /// All zones together take no more room than one zone's answer: go on asking while any of them has more coming.
    /// - Returns: a result for each zone: what the one-zone call returns, or throws; `limitExceeded` for one of which
    ///   nothing has room for its assets beside those of the other zones: let go of the answer, and ask for it again.
    /// - Throws: `limitExceeded` above 400 zones; whatever concerns the whole request.
    public func recordZoneChanges(
        inZonesWith configurations: [RecordZone.ID: ZoneChangesConfiguration]
    ) async throws(SealKitError) -> [RecordZone.ID: Result<RecordZoneChanges, SealKitError>] {
        guard configurations.count <= Limits.itemsPerRequest else {
            throw SealKitError(
                .limitExceeded, "\(configurations.count) zones in one request; \(Limits.itemsPerRequest) are allowed",
                remedy: "ask in parts")
        }
        try await core.requireAccount(for: scope)
        let answer = try await answer(to: configurations, by: .together)
        var results = answer.unasked.mapValues { Result<RecordZoneChanges, SealKitError>.failure($0) }
        // The rosters of all first: what is asked ahead may not fall behind them.
        var pages: [FeedPage] = []
        for (index, zone) in answer.zones.enumerated() {
            do throws(SealKitError) {
                pages.append(
                    try await page(
                        zone, configurations[zone.zoneID] ?? ZoneChangesConfiguration(),
                        kind: index > 0 ? .recordsBesideOthers : .records))
            } catch {
                results[zone.zoneID] = .failure(error)
            }
        }
        askAhead(after: pages, of: configurations, by: .together)
        var isFirst = true
        for page in pages {
            do throws(SealKitError) {
                let changes = try await fitting(page, besideOthers: !isFirst)
                if !changes.modifications.isEmpty { isFirst = false }
                results[page.zoneID] = .success(changes)
            } catch {
                results[page.zoneID] = .failure(error)
            }
        }
        return results
    }

    /// Whether a token is of this zone's feed, and not of another zone, container, environment or database.
    /// - Throws: `invalidArguments`, `badDatabase` for a zone that cannot be one of this database.
    package func isToken(
        _ token: ServerChangeToken, ofZoneWith zoneID: RecordZone.ID
    ) throws(SealKitError) -> Bool {
        token.zone == (try zoneScope(zoneID)).id.hex
    }

    /// - Parameter moment: when the server is asked; nil for now.
    /// - Returns: the request, and the rosters that an answer may not fall behind.
    func request(
        _ zoneID: RecordZone.ID, _ configuration: ZoneChangesConfiguration, asked moment: Int64? = nil
    ) async throws(SealKitError) -> (Sealkit_V1_RecordChangesRequest, known: ZoneGround) {
        var known = try await zoneGround(zoneID, asked: moment)
        if scope == .private { known.marksWhenAsked = try await marks(ofSharesIn: known.zone) }
        let token = configuration.previousServerChangeToken
        if let token, token.zone != known.zoneID.hex {
            throw SealKitError(
                .changeTokenExpired, "the token is of another zone", remedy: "fetch again without a token")
        }
        let request = Sealkit_V1_RecordChangesRequest.with {
            $0.zone = known.zone.zoneIDOnWire
            $0.token = token?.bytes ?? Data()
            $0.resultsLimit = UInt32(clamping: configuration.resultsLimit ?? 0)
            if let desiredKeys = configuration.desiredKeys { $0.desiredKeys = Sealkit_V1_DesiredKeys(desiredKeys) }
        }
        return (request, known)
    }

    /// How much of a zone's answer can be given out.
    private enum Extent {
        case whole(RecordZoneChanges)
        /// Some of its records have no room for their assets.
        case lacksRoom
        /// Of so many records, at least one: the next one's assets do not come for now.
        case first(Int)
    }

    /// A zone's answer with as many records as have room for their assets: what has none of them is let go of, and
    /// asked for again from the same place, half as much at a time. Before a record whose assets do not come for now
    /// the answer ends: so the next one begins with it, and says which one it is.
    /// - Parameter besideOthers: records of other zones are in the same answer.
    /// - Throws: as `changes(in:)`; `limitExceeded` where not one record has room beside those of other zones.
    private func fitting(
        _ page: FeedPage, besideOthers: Bool = false
    ) async throws(SealKitError) -> RecordZoneChanges {
        var (page, limit) = (page, page.response.records.count)
        while limit > 1 {
            switch try await extent(of: page, endsEarly: true) {
            case .whole(let changes): return changes
            case .lacksRoom: limit /= 2
            case .first(let count): limit = min(count, limit - 1)
            }
            var configuration = page.configuration
            configuration.resultsLimit = limit
            page = try await self.page(page.zoneID, configuration, page.reader)
        }
        guard besideOthers else { return try await changes(in: page) }
        if case .whole(let changes) = try await extent(of: page, endsEarly: true) { return changes }
        throw SealKitError(
            .limitExceeded, "no record of the zone \(page.zoneID) has room beside those of the other zones",
            remedy: "let go of them, and ask for the zone by itself")
    }

    /// Verifies a zone's answer, and remembers how far it was read.
    /// - Parameter marking: whether the app reads; what the SDK reads for itself leaves the app's place in the feed as
    ///   it is.
    func changes(in page: FeedPage, marking: Bool = true) async throws(SealKitError) -> RecordZoneChanges {
        guard case .whole(let changes) = try await extent(of: page, marking: marking, endsEarly: false) else {
            throw SealKitError(.internalError, "a part of a feed was left out")
        }
        return changes
    }

    /// - Parameter endsEarly: where not all of its records have their assets, nothing was read, and how many there are
    ///   to be asked for is what is returned.
    private func extent(
        of page: FeedPage, marking: Bool = true, endsEarly: Bool
    ) async throws(SealKitError) -> Extent {
        let (zoneID, response, ground, reader) = (page.zoneID, page.response, page.ground, page.reader)
        let (token, desiredKeys) = (page.configuration.previousServerChangeToken, page.configuration.desiredKeys)
        var changes = RecordZoneChanges(
            modifications: [], deletions: [], changeToken: page.end, moreComing: response.moreComing)
        let outcomes = try await read(
            response.records, zone: zoneID, desiredKeys: desiredKeys, ground: .zone(ground),
            notesCycles: true)
        changes.modifications.reserveCapacity(outcomes.count)
        var files = FeedFiles()
        for (index, (wire, outcome)) in zip(response.records, outcomes).enumerated() {
            switch outcome {
            case .success(.record(let record)):
                let result = await materialize(record)
                if endsEarly, result.isWithoutRoom { return .lacksRoom }
                if let obstacle = result.obstacle {
                    guard endsEarly, index > 0 else { throw obstacle.about(record.recordID.recordName) }
                    return .first(index)
                }
                files.note(result, of: record)
                changes.modifications.append((record.recordID, result))
            case .success(.unopened(let there)):
                changes.modifications.append((there.record.recordID, .failure(there.error)))
            case .success(.deletion(let name, let type, _)):
                changes.deletions.append((Record.ID(recordName: name, zoneID: zoneID), type))
            case .failure(let error):
                let isHeldBack = error.code == .unknownItem
                switch FeedDisbelief(of: wire, isHeldBack: isHeldBack, isRollback: error.code == .rollback) {
                case .told:
                    let id = Record.ID(recordName: wire.recordName, zoneID: zoneID)
                    changes.modifications.append((id, .failure(error)))
                case .heldBack: continue
                case .refusesPage: throw error
                }
            }
        }
        if let failure = files.failure { throw failure }
        if reader.isWhole, !response.moreComing {
            // Before the mark: a deletion that has left the feed is one of its past.
            for one in try await missing(
                from: reader, and: page.part, since: page.beganAt, zoneID, desiredKeys: desiredKeys, in: ground)
            {
                switch one.outcome {
                case .success(.record(let record)):
                    let result = await materialize(record)
                    if let obstacle = result.obstacle { throw obstacle.about(record.recordID.recordName) }
                    changes.modifications.append((one.id, result))
                case .success(.unopened(let there)): changes.modifications.append((one.id, .failure(there.error)))
                case .success(.deletion(_, let type, _)): changes.deletions.append((one.id, type))
                case .failure(let error): changes.modifications.append((one.id, .failure(error)))
                }
            }
        }
        guard marking else {
            reader.take(page.part)
            return .whole(changes)
        }
        // Caught up: whatever the server later shows under an epoch before this one, unseen, is back-dated.
        try await core.trust.advance(
            zone: ground.place.scope, incarnation: ground.place.incarnation, since: token?.bytes,
            token: Data(response.token),
            caughtUp: ground.caughtUp(by: response))
        core.readers.take(page.part, reader, of: ground.zoneID.hex)
        if scope == .private { core.unsettled.note(ground.zone.id, response.unsettled) }
        return .whole(changes)
    }
}

extension Result where Failure == SealKitError {
    /// What keeps one record's assets from coming, and may keep others', ends the page: its token would be past all of
    /// them, and nobody would ask for them again. `internalError` may be of one file alone (`FeedFiles`).
    fileprivate var obstacle: SealKitError? {
        guard case .failure(let error) = self, error.isObstacle, error.code != .internalError else { return nil }
        return error
    }

    /// Of a record whose assets were to come with it.
    fileprivate var isWithoutRoom: Bool {
        if case .failure(let error) = self { error.code == .limitExceeded } else { false }
    }
}
