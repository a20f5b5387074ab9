import SealClient
import SealPrimitives
import SealStatements

/// Saves and deletions of one zone, from drafts to results: seals, signs and sends them, and does it again when the key
/// or the roster has changed meanwhile, or when the save policy says to merge.
struct ZoneBatch {
    let database: Database
    let zoneID: RecordZone.ID
    let savePolicy: Database.SavePolicy
    let isAtomic: Bool
    let progress: UploadProgress
    /// The records' values stay as they are; whoever has written one meanwhile has given it a new key too.
    var isRekeying = false
    /// Whoever runs it looks after invitations that are over, of which some may be to begin again.
    var keepsExpired = false
    /// Where it notes what it sends; nil for a batch that ends with the process.
    var journal: ZoneJournal?

    var saveResults: [Record.ID: Result<Record, SealKitError>] = [:]
    var deleteResults: [Record.ID: Result<Void, SealKitError>] = [:]
    /// By name, the saves as the app has asked for them, whatever they are merged into on the way.
    var drafts: [String: Item] = [:]
    /// What it has sent of assets, by their ids on the server.
    var sentBlobs: Set<String> = []
    /// Records whose assets were sent once more, since the server has them no more.
    var sentAgain: Set<Record.ID> = []
    /// By name, the records of which the server has less than this device has seen.
    var lost: [String: RecordWriting.Restored] = [:]
    /// The shares that begin and end with it.
    var sharing = SharingPlan()
    /// By the record whose deletion says so, the shares that are left once the other items are done.
    var leaving: [Record.ID: Scope] = [:]
    /// The server has said that a parent is in another scope than was thought: this zone has shares that the device
    /// does not know of.
    var isBehindPlaces = false
    /// The server has refused some of the items alone because a roster has moved on; the others are done.
    var isBehindRosters = false
    /// The zone's scopes anew, where the device went by one that this account is out of: so once only.
    var regrounded: ZoneGround?
    var hasRegrounded = false
    /// A record came from one scope into another.
    var hasMoved = false
    /// Those of which an old copy would be refused for its place, and that were looked up for that.
    var met: Set<Record.ID> = []
    /// Records that are deleted along with one that the app has named.
    var implied: Set<Record.ID> = []
    /// Deletions that go once the other items are done.
    var waitingDeletions: [Record.ID] = []
    /// By name of the records that are deleted: what was verified to go along with each, and its deletion has to cover.
    var covered: [String: [VerifiedStatement]] = [:]

    init(
        database: Database, zoneID: RecordZone.ID, savePolicy: Database.SavePolicy, isAtomic: Bool,
        progress: UploadProgress
    ) {
        self.database = database
        self.zoneID = zoneID
        self.savePolicy = savePolicy
        // As with CloudKit, the default zone saves each record by itself.
        self.isAtomic = isAtomic && zoneID.zoneName != RecordZone.defaultName
        self.progress = progress
    }

    enum Item {
        /// Beside the item, which is copied from step to step.
        indirect case save(Record)
        case delete(Record.ID, Record.Base, recordType: String, changeTag: String)

        var id: Record.ID {
            switch self {
            case .save(let record): record.recordID
            case .delete(let id, _, _, _): id
            }
        }

        var isSave: Bool { if case .save = self { true } else { false } }

        /// Nil for a deletion.
        var saved: Record? { if case .save(let record) = self { record } else { nil } }

        /// What its statement follows; nil for a record that is new.
        var base: Record.Base? {
            switch self {
            case .save(let record): record.base
            case .delete(_, let last, _, _): last
            }
        }

        /// What it follows is later than what the batch goes by: a look-up, or a conflict, has come upon it since.
        func isNewer(than ground: ZoneGround) -> Bool { base.map { ground.isBehind($0.statement) } ?? false }
    }

    /// An item and the scope that its statement is for.
    struct Placed {
        var item: Item
        let scopeID: Digest

        func isMove(in ground: ZoneGround) -> Bool {
            item.base.map { ground.moves($0.statement, into: scopeID) } ?? false
        }
    }

    mutating func run(saving: [Record], deleting: [Record.ID]) async throws(SealKitError) {
        guard database.scope != .public else { return try await runPublic(saving: saving, deleting: deleting) }
        // Whatever is rekeyed was saved by somebody before.
        let passing = isRekeying ? saving : passing(saving, RecordRules.check)
        guard goesOn(saving: saving, deleting: deleting) else { return }
        var ground = try await database.groundForWriting(zoneID)
        for opening in sharing.openings { ground.add(opening.view) }
        if passing.contains(where: { Item.save($0).isNewer(than: ground) }) { try await refresh(&ground) }
        var records: [Record]
        (records, ground) = try await verified(passing, ground: ground)
        var deletions: [Item] = []
        if savePolicy == .restoring { (records, deletions) = try await lost(records, deleting: deleting, ground) }
        guard goesOn(saving: saving, deleting: deleting) else { return }
        records = try await uploadAssets(of: records, ground.zone)
        guard goesOn(saving: saving, deleting: deleting) else { return }

        var items = records.map { Item.save($0) }
        items += savePolicy == .restoring ? deletions : try await self.deletions(of: deleting)
        guard goesOn(saving: saving, deleting: deleting) else { return }
        if items.contains(where: { $0.isNewer(than: ground) }) { try await refresh(&ground) }
        items = try await endingShares(items, &ground)
        keepDrafts(of: items)
        items = try await notLost(items, in: ground.place)
        for round in 1...WriteRounds.most where !items.isEmpty {
            let isLast = round == WriteRounds.most
            if let now = regrounded { (ground, regrounded) = (now, nil) }
            items = besideDeletions(items)
            do {
                if isBehindRosters || items.contains(where: { $0.isNewer(than: ground) }) { try await refresh(&ground) }
                let life = ground.incarnation
                var placed = try await place(items, &ground)
                // What was looked up for its place goes on from there, whatever stops this round.
                items = placed.map(\.item)
                var isReady = try await makeReady(&placed, &ground)
                if isReady, ground.incarnation != life {
                    // The zone went and was made again meanwhile: what these are copies of is gone.
                    placed = try await place(items, &ground)
                    isReady = try await makeReady(&placed, &ground)
                }
                items = placed.map(\.item)
                guard isReady else {
                    if isLast { for item in items { fail(item, ZoneBatch.keepsChanging(item.id)) } }
                    continue
                }
                items = try await send(try await complete(placed, in: ground), ground: ground, isLast: isLast)
                if placed.contains(where: { $0.isMove(in: ground) }) { hasMoved = true }
            } catch {
                // What was stored before something else failed does not go again.
                items.removeAll { isStored($0.id) }
                switch WriteRounds.course(after: error.code.rawValue, isLast: isLast) {
                case .asksForScopes: guard try await regrounds(ground) else { throw error }
                case .asksForRights: guard try await regroundsAgain(.zone(ground)) else { throw error }
                case .refreshesRosters:
                    isBehindPlaces = true
                    try await refresh(&ground)
                case .ends: throw error
                }
            }
        }
        await database.maintainQuietly(zoneID, ground, hasMoved: hasMoved, keepsExpired: keepsExpired)
        await deleteWaiting()
        await leaveShares()
        forgetImplied()
    }

    func isStored(_ id: Record.ID) -> Bool {
        saveResults[id]?.isSuccess ?? deleteResults[id]?.isSuccess ?? false
    }

    /// Whether the batch goes on by other scopes than it went by.
    mutating func regrounds(_ ground: ZoneGround) async throws(SealKitError) -> Bool {
        guard !hasRegrounded, let now = try await database.regrounded(ground, zoneID) else { return false }
        (regrounded, hasRegrounded) = (now, true)
        return true
    }

    private mutating func refresh(_ ground: inout ZoneGround) async throws(SealKitError) {
        ground = try await database.refreshed(ground)
        try await sharing.renew(database, &ground)
        isBehindRosters = false
    }

    mutating func keepDrafts(of items: [Item]) {
        drafts.reserveCapacity(items.count)
        for item in items where item.isSave { drafts[item.id.recordName] = item }
    }

    // MARK: Before sending

    /// Deletions are signed statements that follow the record's last one, so that is fetched first.
    mutating func deletions(of ids: [Record.ID]) async throws(SealKitError) -> [Item] {
        guard !ids.isEmpty else { return [] }
        var items: [Item] = []
        for (id, outcome) in try await database.look(up: ids, desiredKeys: []) {
            switch outcome {
            case .success(let found):
                guard let record = found.present, let base = record.base else {
                    deleteResults[id] = .success(())
                    continue
                }
                items.append(.delete(id, base, recordType: record.recordType, changeTag: record.recordChangeTag ?? ""))
            case .failure(let error) where error.code == .unknownItem: deleteResults[id] = .success(())
            case .failure(let error): deleteResults[id] = .failure(error)
            }
        }
        return items
    }
}
