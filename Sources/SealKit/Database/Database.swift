import Foundation
import SealClient
import SealCoding
import SealPrimitives
import SealStatements
import SealWire

/// One of a container's databases: CloudKit's `CKDatabase`.
///
/// Everything that comes back has been verified on this device: its author, its place, its revision, every stored byte.
/// What does not hold is an `integrityFailure` or `rollback` error that names the record, and gives nothing of it.
public struct Database: Sendable {
    /// Which of a container's databases, by CloudKit's numbers.
    public enum Scope: Int, Sendable {
        /// What everybody may read.
        case `public` = 1
        /// The zones of whoever is signed in.
        case `private` = 2
        /// The zones that others share with whoever is signed in.
        case shared = 3
    }

    /// Whether the contents of assets are downloaded with their records, as CloudKit does.
    public enum AssetFetching: Sendable {
        /// Into the SDK's temporary folder (``TemporaryAssets``), each content once. An asset that cannot be had fails
        /// its record.
        case automatic
        /// Records come with their assets' sizes, and without files: call
        /// ``Database/download(_:of:to:replaces:progress:)`` for those that you want.
        case onDemand
    }

    let core: ContainerCore
    let scope: Scope
    /// Of everything that is fetched through this value: records by name, changes, queries, late records.
    public var assetFetching: AssetFetching = .automatic
    /// Of a reading that goes on to the end of its feeds; nil for one that may stop anywhere.
    var ahead: FeedAhead?

    init(core: ContainerCore, scope: Scope) {
        self.core = core
        self.scope = scope
    }

    /// Which of the container's databases it is.
    public var databaseScope: Scope { scope }

    /// A copy that fetches so. With `onDemand`, assets stay on the server until they are asked for:
    ///
    /// ```swift
    /// let record = try await database.fetchingAssets(.onDemand).record(for: id)
    /// if let film = record["film"] as Asset? { try await database.download(film, of: id, to: file) }
    /// ```
    public func fetchingAssets(_ fetching: AssetFetching) -> Database {
        var copy = self
        copy.assetFetching = fetching
        return copy
    }

    // MARK: Zones by name

    /// The zone's scope in the protocol's sense.
    /// - Throws: `badDatabase` when the zone is not one of this database.
    func zoneScope(_ zone: RecordZone.ID) throws(SealKitError) -> SealStatements.Scope {
        if scope == .public { return try core.publicScope(zone) }
        let found = try core.scope(of: zone)
        let isOwn = found.owner == core.userID()
        guard isOwn == (scope == .private) else {
            throw SealKitError(
                .badDatabase, "the zone \(zone) is not in the \(scope.pathComponent) database",
                remedy: isOwn
                    ? "use the private database for your own zones" : "use the shared database for zones of others")
        }
        return found
    }

    func zoneID(_ wire: Sealkit_V1_ZoneID) -> RecordZone.ID {
        // The public database's zone is nobody's, and named like one's own.
        let isOwn = scope == .public || wire.ownerName.isEmpty || wire.ownerName == core.userID().recordName
        return RecordZone.ID(zoneName: wire.zoneName, ownerName: isOwn ? RecordZone.ID.currentUser : wire.ownerName)
    }

    func keeper(_ zone: RecordZone.ID) throws(SealKitError) -> ZoneKeeper { core.keeper(of: try zoneScope(zone)) }

    // MARK: Checked reading

    /// What reading a batch gives: an outcome for each wire record, in order.
    typealias Outcome = Result<RecordReader.Outcome, SealKitError>

    /// Verifies, opens, and holds against what this device has seen.
    ///
    /// Where this device has come to know more of a record than an answer shows since it asked, the record is looked up
    /// again.
    /// - Parameters:
    ///   - names: of the records, each as it was asked for; none in a feed, where each says its own.
    ///   - asksAgain: false for a reader of the very bytes that came: such a record is a `serverRecordChanged` to it.
    ///   - notesCycles: what came is of one moment. What was looked up again since is not.
    func read(
        _ records: [some ShownRecord & Sendable], named names: [String] = [], zone: RecordZone.ID,
        desiredKeys: [String]?, ground start: RecordGround,
        checksPlacement: Bool = true, asksAgain: Bool = true, notesCycles: Bool = false, accepting: Set<Digest> = []
    ) async throws(SealKitError) -> [Outcome] {
        var reader = RecordReader(ground: start, zoneID: zone, desiredKeys: desiredKeys)
        func name(_ index: Int) -> String { names.isEmpty ? records[index].recordName : names[index] }
        var answer = await reader.answer(records, named: names)
        if !answer.unknownHeads.isEmpty {
            reader.refresh(try await reader.ground.refreshed(core))
            await reader.complete(&answer, records, named: names)
        }
        let readings = answer.readings
        let accepted = acceptable(accepting, of: readings, in: reader.ground, zone)
        var (outcomes, overtaken) = try await admit(readings, in: reader.ground, zone, accepted)
        if asksAgain, !overtaken.isEmpty {
            let ids = overtaken.map { Record.ID(recordName: records[$0].recordName, zoneID: zone) }
            let newer = try await find(
                ids, in: zone, from: reader.ground, desiredKeys: desiredKeys, checksPlacement: checksPlacement
            ).found
            let outcomesNow = Dictionary(newer.map { ($0.id, $0.outcome) }, uniquingKeysWith: { $1 })
            for (index, id) in zip(overtaken, ids) {
                outcomes[index] = outcomesNow[id] ?? .failure(Database.unanswered(id))
            }
        }
        for (index, outcome) in outcomes.enumerated() {
            let error: SealKitError
            switch outcome {
            case .failure(let found): error = found
            case .success(.unopened(let there)): error = there.error
            case .success: continue
            }
            _ = await core.noted(error, zone: zone, record: name(index))
        }
        // Of the whole zone nothing is held back.
        if checksPlacement, case .zone(let ground) = reader.ground, ground.own == nil {
            outcomes = try await holdingBack(outcomes, in: ground, zone)
        }
        if notesCycles {
            var ofAnswer = outcomes
            for index in overtaken.reversed() { ofAnswer.remove(at: index) }
            await noteCycles(in: ofAnswer, zone)
        }
        return outcomes
    }

    /// - Returns: also which of the outcomes this device knew more of by the time that they came.
    private func admit(
        _ readings: [Result<RecordReader.Reading, SealKitError>], in ground: RecordGround, _ zoneID: RecordZone.ID,
        _ accepted: TrustStore.LateStatements?
    ) async throws(SealKitError) -> ([Outcome], overtaken: [Int]) {
        var sightings: [Sighting] = []
        sightings.reserveCapacity(readings.count)
        for case .success(let reading) in readings { sightings.append(reading.sighting) }
        var verdicts = try await core.trust.admit(
            sightings, in: ground.place, asked: ground.asked, accepted: accepted, readable: ground.readableScopes
        ).makeIterator()
        var overtaken: [Int] = []
        let outcomes: [Outcome] = readings.enumerated().map { index, reading in
            reading.flatMap { reading -> Outcome in
                let verdict = verdicts.next()
                if case .backdated? = verdict { return .failure(Database.late(reading.sighting, in: ground, zoneID)) }
                if case .overtaken? = verdict { overtaken.append(index) }
                return refusal(of: reading.sighting, verdict).map { .failure($0) } ?? .success(reading.outcome)
            }
        }
        return (outcomes, overtaken)
    }

    /// Why what was seen is not believed; nil where it is.
    func refusal(of sighting: Sighting, _ verdict: Verdict?) -> SealKitError? {
        let name = sighting.recordName
        switch verdict {
        case .accepted, .unknownDeletion: return nil
        case .older:
            return SealKitError(
                .rollback, "the server shows an older revision of record \(name) than this device has seen",
                remedy: remedyOfLoss)
        case .overtaken:
            return SealKitError(
                .serverRecordChanged, "record \(name) was written while the server was asked for it",
                remedy: "ask again")
        case .forked:
            return SealKitError(
                .rollback, "the server shows another revision \(sighting.revision) of record \(name) than before",
                remedy: "somebody with its author's key or the server shows different people different data")
        case .misplaced:
            return SealKitError(
                .integrityFailure, "record \(name) is shown in another share than its owner left it in",
                remedy: "only a zone's owner moves records; nothing of this one was taken over")
        case .changed:
            return SealKitError(
                .integrityFailure, "record \(name) is shown with another type or creator than it had",
                remedy: "both stay until a record is deleted; nothing of this one was taken over")
        case .behind:
            return SealKitError(
                .rollback,
                "record \(name) was signed under an older list of members than what this device has seen of it",
                remedy: "somebody who was removed may be writing with the server's help; nothing of it was opened")
        case .backdated, nil: return Database.late(sighting)
        }
    }

    /// What this device itself wrote, once acknowledged, has been seen too. Another device's write may have been seen
    /// meanwhile, so an older one is no fault here; another one of the same number is.
    /// - Throws: `rollback`, for one that the server cannot have taken if what it showed this device before was true.
    func noteOwn(_ sightings: [Sighting], ground: RecordGround) async throws(SealKitError) {
        let verdicts = try await core.trust.admit(sightings, in: ground.place)
        guard !verdicts.contains(.backdated) else {
            throw await core.noted(
                SealKitError(
                    .rollback,
                    "the server acknowledged a save under an older key than the one that it had shown this device as the one in force",
                    remedy:
                        "whoever was removed when the newer key was opened can read it: do not trust this server, and save again where it is honest"
                ))
        }
        guard !verdicts.contains(.forked) else {
            throw await core.noted(
                SealKitError(
                    .rollback, "the server acknowledged a save where it had shown another revision before",
                    remedy: "it shows different people different data; do not trust it"))
        }
    }
}

extension Sealkit_V1_DesiredKeys {
    init(_ keys: [String]) {
        self.init()
        names = keys
    }
}
