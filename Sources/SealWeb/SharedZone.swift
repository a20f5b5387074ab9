import SealClient
import SealEnvelope
import SealHPKE
import SealPrimitives
import SealStatements

/// A share's records as a visitor reads them: rosters, answers of its zone's feed, and what was believed of them. It
/// asks nobody: it says what is to be asked, and takes the answers. What it refuses leaves it as it was.
final class SharedZone {
    /// The share's own scope: the zone's, where all of it is shared.
    let scope: Scope
    let own: OwnIdentity
    private var replicas: [Digest: ScopeReplica<SodiumHPKE>] = [:] { didSet { keptAs = [] } }
    /// Of the zone's life with that number.
    private var store = MemorySightings() { didSet { keptAs = [] } }
    private var life: UInt32 = 0
    /// The entry of the zone's own roster up to which `store` has heard of absences.
    private var heard: UInt64 = 0
    private var feed: FeedReading
    private var token: [UInt8] = []
    /// Of the rosters whose tails are to be asked for, the first one next.
    private var wanted: [Scope] = []
    /// Grants of lower epochs are asked for; 0 for the newest.
    private var below: UInt32 = 0
    /// The answer at hand has had its rosters fetched.
    private var isRefreshed = false
    /// Where the rosters ended, as they were known when the answer at hand was asked for: it may not be older.
    private var asked: [(scope: Digest, end: UInt64)] = []
    private var reading: RecordReading?
    private var records: [String: Shown] = [:]
    /// By name, what of the share is to be shown: once all has come.
    private(set) var names: [String] = []
    /// Why a record is not believed, by its name.
    private var disbelieved: [String: Refusal] = [:]
    /// Of records that nobody has signed a server has as many as it likes.
    private static let mostDisbelieved = 10_000
    /// What is known and has not come again, where the feed is read from its beginning.
    private var missing: Set<String> = []
    /// Nothing of it has come yet.
    private var isAtStart = true
    /// Of that, what is there when it is asked for by name: the feed goes on with it, or it was left out.
    private var leftOut: Set<String> = []
    /// Up to which epoch of each scope the feed was read, once it is known that nothing is missing.
    private var caughtUp: [ScopePlace: Int64] = [:]
    /// The account has seen these of rosters on other devices: nothing before them counts.
    private let floors: [Enrolment.Head]
    /// This browser has seen that of the zone at other visits, or in other tabs: the same.
    private var remembered = ZoneMemory()
    /// How what the browser keeps begins, where that is all that is known here.
    var keptAs: [UInt8] = []
    /// Something has come since the visitor was shown the records.
    var hasNews = false
    /// What is another than the visitor was shown, by name; nil where any may be.
    var changed: Set<String>? = nil
    #if LIBRARY
        /// What its host was told of last (`news`), by name, ascending.
        var told: [RecordNews] = []
    #endif

    /// A record that is believed.
    final class Shown {
        let read: ReadRecord
        /// As the server says: microseconds since 1970.
        let modified: Int64
        /// The server's, for what is saved over it.
        let changeTag: String
        #if LIBRARY
            /// As the server says, like `modified`.
            let created: Int64
            /// As queries see it: opened once.
            var subject: Query.Subject?
        #endif

        init(_ read: ReadRecord, as wire: Wire.Record) {
            (self.read, modified, changeTag) = (read, wire.modificationDate, wire.changeTag)
            #if LIBRARY
                created = wire.creationDate
            #endif
        }
    }

    /// - Parameters:
    ///   - scope: of the share.
    ///   - entries: of its roster, verified; none where nothing is known of it.
    /// - Throws: `keysReplaced`, `foreignKeys` for what they have of the visitor's account; what they break.
    init(
        _ scope: Scope, as visitor: VisitorIdentity, entries: [SignedRosterEntry], random: inout SystemRandom
    ) throws(Refusal) {
        (self.scope, own, floors) = (scope, visitor.own, visitor.heads)
        feed = FeedReading(isWhole: true, random: &random)
        let replica = try core { () throws(SealError) in try self.replica(of: scope, entries) }
        // What came behind a URL may be all that there is: then no step holds the account's keys in it against its own.
        if let roster = replica.roster { try client { () throws(ClientError) in try own.check(roster) } }
        replicas[scope.id] = replica
        heard = replicas[zone.id]?.head?.sequence ?? 0
        wanted = [scope]
    }

    private func replica(
        of scope: Scope, _ entries: [SignedRosterEntry]
    ) throws(SealError) -> ScopeReplica<SodiumHPKE> {
        var known: [Enrolment.Head] = []
        for floor in floors where floor.scopeID == scope.id { known.append(floor) }
        for head in remembered.heads where head.scopeID == scope.id { known.append(head) }
        return try ScopeReplica(scope: scope, user: own.chain.userID, entries: entries, floors: known)
    }

    var zone: Scope { scope.ofZone }

    private func isInZone(_ wire: Wire.ZoneID?) -> Bool {
        wire?.zoneName == zone.zoneName && wire?.ownerName == zone.owner.recordName
    }

    var zoneID: Wire.ZoneID {
        var id = Wire.ZoneID()
        (id.zoneName, id.ownerName) = (zone.zoneName, zone.owner.recordName)
        return id
    }

    // MARK: Rosters

    /// - Returns: nil where none is to be asked for.
    func rosterRequest() -> Wire.FetchRostersRequest? {
        guard let scope = wanted.first else { return nil }
        let known = replicas[scope.id]?.roster
        var roster = Wire.RosterRequest()
        roster.zone = zoneID
        roster.shareRecordName = scope.shareRecordName
        roster.after = known?.sequence ?? 0
        roster.fromStart = known == nil
        roster.head = known?.head.bytes ?? []
        roster.grantsBefore = below
        var request = Wire.FetchRostersRequest()
        request.rosters = [roster]
        return request
    }

    func take(_ answer: Wire.FetchRostersResponse) throws(Refusal) {
        guard let scope = wanted.first else { throw Refusal("unexpected") }
        guard let wire = answer.rosters.first, wire.failure == nil, isInZone(wire.zone),
            wire.shareRecordName == scope.shareRecordName
        else { throw Refusal(.unknownScope) }
        var replica: ScopeReplica<SodiumHPKE>
        if let known = replicas[scope.id] {
            replica = known
        } else {
            replica = try core { () throws(SealError) in try self.replica(of: scope, []) }
        }
        let tail = try client { () throws(ClientError) in try RosterTail(wire, of: own.chain.userID) }
        let goesOn = try client { [below] () throws(ClientError) in
            below > 0
                ? try SharedZone.takeEarlier(tail, below: below, into: &replica, as: own)
                : try SharedZone.take(tail, into: &replica, as: own)
        }
        for head in remembered.heads { try SharedZone.check(replica, has: head) }
        // Whoever comes, goes or brings keys makes others of records that nobody has touched.
        if below > 0 || replicas[scope.id]?.roster?.sequence != replica.roster?.sequence { changed = nil }
        replicas[scope.id] = replica
        if scope.id == zone.id, let head = replica.head {
            noteAbsences(of: replica, after: heard, in: &store)
            heard = head.sequence
        }
        below = goesOn.below
        if !goesOn.isMoreComing, below == 0 { wanted.removeFirst() }
    }

    /// What was met before the visitor was out of the zone need not be there still.
    private func noteAbsences(
        of replica: ScopeReplica<SodiumHPKE>, after sequence: UInt64, in store: inout MemorySightings
    ) {
        for absence in replica.absences where absence > sequence { store.noteAbsence(from: zone.id) }
    }

    // MARK: Other visits

    /// What was seen of the zone at other visits, or by now in another tab.
    /// - Parameter isWhole: of the share's roster the server has shown all that it has.
    /// - Throws: where that does not come together with what is known here.
    func recall(_ memory: ZoneMemory, isWhole: Bool) throws(Refusal) {
        var heardThere: UInt64 = 0
        // In the order of what was kept: where that is all that is known, it is said by the same bytes.
        let known = remembered.heads
        remembered = memory
        remembered.sightings = MemorySightings()
        for head in known { remembered.add(head) }
        for head in memory.heads {
            if head.scopeID == zone.id { heardThere = max(heardThere, head.sequence) }
            guard var replica = replicas[head.scopeID] else { continue }
            defer { replicas[head.scopeID] = replica }
            try client { () throws(ClientError) in
                try replica.require(head, isLast: isWhole && head.scopeID == scope.id)
            }
            try SharedZone.check(replica, has: head)
        }
        guard memory.incarnation >= life else { return }
        var theirs = memory.sightings
        if let replica = replicas[zone.id] { noteAbsences(of: replica, after: heardThere, in: &theirs) }
        if memory.incarnation > life { begin(memory.incarnation) }
        // What else is known here has heard of no more than it had.
        if heard == 0 { heard = heardThere }
        let (newer, forked) = store.take(theirs)
        if !isAtStart {
            // The feed that was read is to bring it; what it does not bring is asked for by name.
            let names = Set(newer)
            let living = RecordJudge(store).living(readable: ground.readableScopes, since: nil) { names.contains($0) }
            missing.formUnion(living)
            for name in newer where records[name] != nil { missing.insert(name) }
        }
        for name in forked {
            disbelieve(name, Refusal("rollback"))
            hasNews = true
        }
    }

    /// Of what this browser remembers nothing is given up, by a log that is longer or shorter: by which keys the owner
    /// would have to say so is not kept with it (R-FORK-3).
    private static func check(_ replica: ScopeReplica<SodiumHPKE>, has head: Enrolment.Head) throws(Refusal) {
        guard head.scopeID == replica.scope.id, let roster = replica.roster,
            roster.sequence >= head.sequence || roster.reaches(head),
            !roster.has(sequence: head.sequence, hash: head.hash.bytes)
        else { return }
        throw Refusal(.forked(from: replica.head))
    }

    /// Of another life of the zone nothing counts in this one.
    private func begin(_ life: UInt32) {
        (self.life, store, records, disbelieved) = (life, MemorySightings(), [:], [:])
        (missing, leftOut, changed) = ([], [], nil)
    }

    /// What there is to be kept of it by now.
    var memory: ZoneMemory {
        var memory = ZoneMemory()
        (memory.incarnation, memory.sightings) = (life, store)
        for head in remembered.heads {
            if let replica = replicas[head.scopeID] { memory.add(replica) } else { memory.add(head) }
        }
        for replica in replicas.values { memory.add(replica) }
        return memory
    }

    // MARK: The feed

    /// The feed from its beginning: the server no longer goes on from where it was. What was seen stays seen.
    func startOver(random: inout SystemRandom) {
        (feed, token, isAtStart) = (FeedReading(isWhole: true, random: &random), [], true)
        (leftOut, disbelieved, changed) = ([], [:], nil)
    }

    func changesRequest() -> Wire.RecordChangesRequest {
        noteAsked()
        var request = Wire.RecordChangesRequest()
        request.zone = zoneID
        request.token = token
        return request
    }

    enum Course: UInt8 {
        /// It goes by rosters that are to be fetched first; then it is taken again.
        case needsRosters = 0
        case isMoreComing = 1
        case isWhole = 2
        /// What the feed should have brought is to be asked for by name (`lookupRequest`).
        case misses = 3
    }

    func take(_ answer: Wire.RecordChangesResponse, random: inout SystemRandom) throws(Refusal) -> Course {
        guard answer.records.count <= Limits.itemsPerRequest else { throw Refusal("endless") }
        guard let ground = try ground(citing: answer.scopes) else { return .needsRosters }
        let part = FeedReading.Part(
            answer.records.map { feed.item($0) }, from: token, to: answer.token, isMoreComing: answer.moreComing)
        try client { [feed] () throws(ClientError) in try feed.check(part) }
        if isAtStart {
            // Whatever was there at this visit or another is gone by what is signed alone.
            missing = Set(
                RecordJudge(store).living(readable: ground.readableScopes, since: nil) { _ in true })
        }
        guard let came = try read(answer.records.map { ($0, nil) }, in: ground) else { return .needsRosters }
        isAtStart = false
        leftOut.subtract(came)
        feed.take(part)
        token = answer.token
        guard !answer.moreComing else { return .isMoreComing }
        feed = FeedReading(isWhole: false, random: &random)
        caughtUp = ground.caughtUp(answer.scopes)
        return end(in: ground)
    }

    /// The feed is at its end, as far as the server says.
    private func end(in ground: ZoneGround) -> Course {
        guard missing.isEmpty else { return .misses }
        for name in leftOut { disbelieve(name, Refusal("withheld")) }
        if !leftOut.isEmpty { (leftOut, hasNews) = ([], true) }
        for (place, epoch) in caughtUp {
            if store.caughtUp(in: place) ?? .min < epoch { store.noteRead(place, upTo: epoch) }
        }
        names = namesToShow(in: ground)
        return .isWhole
    }

    private func noteAsked() {
        (isRefreshed, asked) = (false, [])
        for (scope, replica) in replicas { if let roster = replica.roster { asked.append((scope, roster.sequence)) } }
    }

    /// The rosters that an answer goes by; nil where some are to be fetched first.
    private func ground(citing heads: [Wire.ScopeHead]) throws(Refusal) -> ZoneGround? {
        var cited: [Scope] = []
        var wanted = wanted
        var met: [Digest] = []
        for head in heads where isInZone(head.zone) {
            let scope = head.shareRecordName.isEmpty ? zone : zone.ofShare(head.shareRecordName)
            guard !asked.contains(where: { $0.scope == scope.id && $0.end > head.sequence }) else {
                throw Refusal(.shortened)
            }
            guard !met.contains(scope.id) else { throw Refusal(.forked(from: replicas[scope.id]?.head)) }
            met.append(scope.id)
            if replicas[scope.id]?.roster?.has(sequence: head.sequence, hash: head.head) ?? false {
                cited.append(scope)
            } else if isRefreshed {
                throw Refusal(.forked(from: replicas[scope.id]?.head))
            } else {
                wanted.append(scope)
            }
        }
        guard wanted.isEmpty else {
            (self.wanted, isRefreshed) = (wanted, true)
            return nil
        }
        var ground = ZoneGround(zone: zone, asked: nil)
        for scope in cited { if let view = replicas[scope.id]?.view, view.isMember { ground.add(view) } }
        if zone.owner == own.chain.userID {
            for (scope, end) in asked {
                guard let roster = replicas[scope]?.roster else { continue }
                for (place, epoch) in roster.marks(readTo: end) { ground.marksWhenAsked[place] = epoch }
            }
        }
        // Nothing that it could be judged by: somebody has taken the visitor out, or it does not say what it should.
        guard ground[scope.id] != nil || ground.own != nil else { throw Refusal("notMember") }
        if ground.incarnation != life {
            guard ground.incarnation > life else { throw Refusal("rollback") }
            begin(ground.incarnation)
        }
        return ground
    }

    /// Verifies what an answer shows, and holds it against what was seen before.
    /// - Parameter records: each with the name that it was asked for by; in a feed nil.
    /// - Returns: what was verified, by name; nil where the rosters' tails are to be fetched first.
    private func read(
        _ records: [(shown: Wire.Record, asked: String?)], in ground: ZoneGround
    ) throws(Refusal) -> [String]? {
        var reading = RecordReading(.zone(ground), desiredKeys: nil, refreshes: !isRefreshed)
        var found: [(shown: Wire.Record, read: ReadRecord)] = []
        var refused: [(shown: Wire.Record, why: Refusal)] = []
        for (shown, asked) in records {
            do throws(ClientError) {
                found.append((shown, try reading.read(shown, recordName: asked)))
            } catch {
                if error == .unknownHead {
                    (wanted, isRefreshed) = (ground.views.values.map { $0.scope }, true)
                    return nil
                }
                refused.append((shown, Refusal(error)))
            }
        }
        try settle(found, refused, in: ground)
        if !records.isEmpty { hasNews = true }
        isRefreshed = false
        self.reading = reading
        return found.map { $0.shown.recordName }
    }

    // MARK: What a feed leaves out

    func lookupRequest() -> Wire.LookupRecordsRequest {
        noteAsked()
        var request = Wire.LookupRecordsRequest()
        request.zone = zoneID
        request.recordNames = askedByName
        return request
    }

    /// What is asked for next, of all that is missing.
    private var askedByName: [String] { [String](missing.sorted().prefix(Limits.itemsPerRequest)) }

    /// What was seen is gone by what is signed alone (R-SEEN-10, R-SEEN-13).
    func take(_ answer: Wire.LookupRecordsResponse) throws(Refusal) -> Course {
        let asked = askedByName
        guard answer.results.count <= asked.count else { throw Refusal("endless") }
        guard let ground = try ground(citing: answer.scopes) else { return .needsRosters }
        var records: [(shown: Wire.Record, asked: String?)] = []
        for result in answer.results where missing.contains(result.recordName) {
            if case .record(let record) = result.outcome {
                records.append((record, result.recordName))
            } else if let record = result.serverRecord {
                records.append((record, result.recordName))
            }
        }
        guard try read(records, in: ground) != nil else { return .needsRosters }
        for name in asked {
            if missing.remove(name) != nil {
                // Neither the record nor its deletion: what has no room in the answer would be asked for again.
                if answer.results.contains(where: { $0.recordName == name }) || records.isEmpty {
                    disbelieve(name, Refusal("withheld"))
                } else {
                    missing.insert(name)
                }
            } else if self.records[name] != nil {
                leftOut.insert(name)
            }
        }
        if !missing.isEmpty { return .misses }
        return leftOut.isEmpty ? end(in: ground) : .isMoreComing
    }

    /// Holds what was read against what was seen before.
    private func settle(
        _ found: [(shown: Wire.Record, read: ReadRecord)], _ refused: [(shown: Wire.Record, why: Refusal)],
        in ground: ZoneGround
    ) throws(Refusal) {
        var judge = RecordJudge(store)
        let verdicts = judge.admit(
            found.map { $0.read.sighting }, asked: nil, accepting: [], readable: ground.readableScopes)
        var believed: [Int] = []
        var disbelief = refused
        var rollbacks = 0
        for (index, verdict) in verdicts.enumerated() {
            let shown = found[index].shown
            switch verdict {
            case .accepted: believed.append(index)
            case .unknownDeletion: break
            case .older, .forked, .behind, .overtaken:
                disbelief.insert((shown, Refusal("rollback")), at: 0)
                rollbacks += 1
            case .misplaced: disbelief.append((shown, Refusal("misplaced")))
            case .changed: disbelief.append((shown, Refusal("changed")))
            case .backdated: disbelief.append((shown, Refusal("backdated")))
            }
        }
        var told: [(name: String, why: Refusal)] = []
        for (index, (shown, why)) in disbelief.enumerated() {
            switch FeedDisbelief(of: shown, isHeldBack: false, isRollback: index < rollbacks) {
            case .told: told.append((shown.recordName, why))
            case .heldBack: break
            case .refusesPage: throw why
            }
        }
        guard disbelieved.count + told.count <= SharedZone.mostDisbelieved else { throw Refusal("endless") }
        for (shown, read) in believed.map({ found[$0] }) {
            disbelieve(shown.recordName, nil)
            records[shown.recordName] = read.isGone ? nil : Shown(read, as: shown)
        }
        for (name, why) in told { disbelieve(name, why) }
        missing.subtract(found.lazy.map { $0.shown.recordName })
        if !found.isEmpty { store = judge.store }
    }

    #if LIBRARY
        /// Those of all scopes that are known, the zone's own first.
        var rosters: [Roster] {
            var rosters: [Roster] = []
            for replica in replicas.values { if let roster = replica.roster { rosters.append(roster) } }
            return rosters.sorted { $0.scope.shareRecordName < $1.scope.shareRecordName }
        }

        /// Of the share's roster something is known, and what was asked for last of it was not shown.
        var isWithheld: Bool {
            guard wanted.contains(where: { $0.id == scope.id }) else { return false }
            return replicas[scope.id]?.roster != nil || floors.contains { $0.scopeID == scope.id }
                || remembered.heads.contains { $0.scopeID == scope.id }
        }

        /// Holds what was read beside the feed against what was seen before.
        func admit(_ read: ReadRecord) throws(Refusal) {
            var judge = RecordJudge(store)
            let verdicts = judge.admit([read.sighting], asked: nil, accepting: [], readable: ground.readableScopes)
            switch verdicts.first {
            case .accepted, .unknownDeletion: store = judge.store
            default: throw Refusal("rollback")
            }
        }
    #endif

    /// All that the visitor sees has come: a parent that is not among it is nowhere that the visitor sees.
    private func namesToShow(in ground: ZoneGround) -> [String] {
        var places = ParentPlaces()
        if ground.own == nil {
            for shown in records.values { places.add(shown.read.statement) }
            for missing in places.settle(from: RecordJudge(store)) { places.found(missing, nil) }
        }
        let isWhole = scope.shareRecordName.isEmpty
        var names: [String] = []
        for (name, shown) in records {
            let statement = shown.read.statement
            guard !statement.isShareRecord, isWhole || statement.scopeID == scope.id else { continue }
            if ground.own == nil, places.isHeldBack(statement, in: ground) { continue }
            names.append(name)
        }
        for name in disbelieved.keys where records[name] == nil { names.append(name) }
        return names.sorted()
    }

    // MARK: What is shown

    func shown(_ name: String) -> Shown? { disbelieved[name] == nil ? records[name] : nil }

    func disbelief(of name: String) -> Refusal? { disbelieved[name] }

    private func disbelieve(_ name: String, _ why: Refusal?) {
        disbelieved[name] = why
        changed?.insert(name)
    }

    /// Opens a record field by field.
    /// - Returns: its key.
    @discardableResult
    func open(_ shown: Shown, _ take: (String, ReadField) -> Void) throws(SealError) -> SecretBytes? {
        guard let reading else { throw .missingKey }
        return try reading.open(shown.read, take)
    }

    /// A sealed asset of a record, and where its bytes are.
    func asset(_ field: String, of name: String) throws(SealError) -> (asset: SealedAsset, blob: String) {
        guard let shown = shown(name) else { throw .missingKey }
        var found: (SealedAsset, String)?
        try open(shown) { key, opened in
            if key == field, case .asset(let asset, let blob) = opened { found = (asset, blob) }
        }
        guard let found else { throw .missingKey }
        return found
    }

    // MARK: Writing

    /// The server has acknowledged what the visitor has signed: from here on it counts as seen (R-SEEN-9).
    func note(_ written: SealedRecord) {
        var judge = RecordJudge(store)
        _ = judge.admit(
            Sighting.written(written.statement, hash: written.hash, taking: []), asked: nil, accepting: [],
            readable: nil)
        store = judge.store
    }

    /// The server has acknowledged a record, shows nothing newer of it, and does not show it.
    func lacks(_ written: SealedRecord) -> Bool {
        let name = written.statement.recordName
        let judge = RecordJudge(store)
        return records[name] == nil && judge.lastPlace(of: name) != nil && judge.newest(name)?.hash == written.hash
    }

    /// The entry by which the visitor leaves the share; nil where its roster shows it out already.
    /// - Throws: `permissionFailure` for its owner.
    func leaving(at time: Int64) throws(Refusal) -> SignedRosterEntry? {
        guard let replica = replicas[scope.id], replica.isMember, let roster = replica.roster else { return nil }
        let user = own.chain.userID
        guard roster.owner != user else { throw Refusal("permissionFailure") }
        let author = RosterAuthor<SodiumHPKE>(user: user, keys: own.keys(in: roster))
        return author.plain(.leave, on: roster, time: time).entry
    }

    /// Whether the visitor may write in the share, as far as is known.
    var mayWrite: Bool { replicas[scope.id]?.view.map { $0.isMember && $0.mayWrite } ?? false }

    /// The rosters of all scopes that are known, as what is written goes by them.
    var ground: ZoneGround {
        var ground = ZoneGround(zone: zone, asked: nil)
        for replica in replicas.values { if let view = replica.view, view.isMember { ground.add(view) } }
        return ground
    }

    /// The tail of a scope's roster is to be asked for, before anything is signed by it.
    func refresh(_ scopeID: Digest) throws(Refusal) {
        guard let scope = replicas[scopeID]?.scope else { throw Refusal(.unknownScope) }
        if !wanted.contains(where: { $0.id == scopeID }) { wanted.append(scope) }
    }
}
