import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// One record that the visitor changes, makes or deletes: what it was when the visitor began, and what was sent. What
/// is signed is `RecordWriting`'s to say, and what becomes of it `WriteSettlement`'s and `WriteConflict`'s, as for
/// apps.
final class RecordEdit {
    let name: String
    let type: String
    /// Where it is, or is to be.
    let scopeID: Digest
    /// The version that the visitor has before it; nil for a record that is new.
    private var base: SharedZone.Shown?
    /// All that it has, opened.
    private let fields: [(name: String, field: ReadField)]
    private let recordKey: SecretBytes?
    /// All that was sent: a server that has not answered may have it.
    private var sent: [Digest]
    private var last: SealedRecord?
    /// The server says that there is no such record.
    private var isDenied = false

    /// - Parameter earlier: what the same change was before, from another version on.
    /// - Throws: what does not open.
    init(_ shown: SharedZone.Shown, in zone: SharedZone, after earlier: RecordEdit? = nil) throws(SealError) {
        var fields: [(name: String, field: ReadField)] = []
        recordKey = try zone.open(shown) { fields.append(($0, $1)) }
        let statement = shown.read.statement
        (name, type, scopeID) = (statement.recordName, statement.recordType, statement.scopeID)
        (base, self.fields) = (shown, fields)
        let hash = shown.read.verified.hash
        sent = earlier?.sent.filter { $0 != hash } ?? []
    }

    init(new name: String, type: String, in scope: Scope) {
        (self.name, self.type, scopeID) = (name, type, scope.id)
        (base, fields, recordKey, sent) = (nil, [], nil, [])
    }

    /// What becomes of a field.
    enum Change {
        case plain(Value)
        case encrypted(Value)
        /// A file, whose bytes the server has.
        case asset(AssetWriting)
        case removed
    }

    private var written: RecordWriting.Base? {
        base.map { RecordWriting.Base($0.read.statement, hash: $0.read.verified.hash, recordKey: recordKey) }
    }

    // MARK: What is sent

    /// The scope by whose roster it is signed, with what is known of it by now.
    func view(in zone: SharedZone) throws(Refusal) -> ZoneView {
        let ground = zone.ground
        guard let view = ground[scopeID] else { throw Refusal("notMember") }
        if let base {
            // Of another life of the zone: its keys are gone with it.
            guard ground.life(of: base.read.statement) == .present else { throw Refusal("zoneGone") }
            guard !ground.isBehind(base.read.statement) else { throw Refusal(.unknownRosterHead) }
        }
        switch view.readiness(hasUntoldKeys: zone.own.untold(in: view.roster) != nil) {
        case .ended, .notMember: throw Refusal("notMember")
        case .keyDue: throw Refusal("rotationDue")
        case .lacksGrants, .ready: break
        }
        guard view.mayWrite else { throw Refusal("mayOnlyRead") }
        return view
    }

    /// - Parameter time: of the visitor's clock, microseconds since 1970.
    /// - Returns: the record with those of its values that the changes leave.
    /// - Throws: `unsupported` where a value that was sealed would be one that the server sees.
    func save(
        _ changes: [String: Change], in view: ZoneView, by signingKey: SigningKey, at time: Int64,
        random: inout SystemRandom
    ) throws(SealError) -> (record: Wire.Record, signature: [UInt8]) {
        for (name, field) in fields {
            if case .encrypted = field, case .plain? = changes[name] { throw .unsupported }
        }
        let writing = RecordWriting(in: view, at: time)
        let statement = base?.read.statement
        let draft = writing.save(
            of: name, type: type, after: written, restored: nil,
            parent: statement.map { $0.parent } ?? parent(in: view), share: statement?.share,
            fields: try drafts(changes, keepsKey: writing.keepsKey(written, restored: nil)))
        return try seal(draft, changes, in: view, by: signingKey, random: &random)
    }

    /// - Throws: `missingKey` for a record that was never there.
    func delete(
        in view: ZoneView, by signingKey: SigningKey, at time: Int64, random: inout SystemRandom
    ) throws(SealError) -> (record: Wire.Record, signature: [UInt8]) {
        guard let written else { throw .missingKey }
        let draft = RecordWriting(in: view, at: time).deletion(
            of: name, type: type, after: written, restored: nil, taking: .none)
        return try seal(draft, [:], in: view, by: signingKey, random: &random)
    }

    private func seal(
        _ draft: RecordDraft, _ changes: [String: Change], in view: ZoneView, by signingKey: SigningKey,
        random: inout SystemRandom
    ) throws(SealError) -> (record: Wire.Record, signature: [UInt8]) {
        let sealed = try RecordSealer.seal(
            [draft], epochKey: try view.keyInForce(), signingKey: signingKey, random: &random)
        guard let record = sealed.records.first else { throw .malformed }
        sent.append(record.hash)
        last = record
        return (wire(record, changes), sealed.signature)
    }

    /// A record that is new in a share of a hierarchy is below its root.
    private func parent(in view: ZoneView) -> String? {
        view.scope.shareRecordName.isEmpty ? nil : view.roster.rootRecordName
    }

    private func drafts(
        _ changes: [String: Change], keepsKey: Bool
    ) throws(SealError) -> [(name: String, field: FieldDraft)] {
        var known: [String: Digest] = [:]
        for digest in base?.read.digests ?? [] { known[digest.name] = digest.digest }
        var now: [String: RecordWriting.Field] = [:]
        for (name, field) in fields { now[name] = field.written }
        for (name, change) in changes {
            switch change {
            case .plain(let value): now[name] = .plain(value)
            case .encrypted(let value): now[name] = .encrypted(value)
            case .asset(let writing): now[name] = .asset(try writing.asset())
            case .removed: now[name] = nil
            }
        }
        var drafts: [(name: String, field: FieldDraft)] = []
        for (name, field) in now.sorted(by: { FieldSet.isOrdered($0.key, $1.key) }) {
            let draft = RecordWriting.draft(
                of: field, isChanged: changes[name] != nil, known: known[name], keepsKey: keepsKey)
            if let draft { drafts.append((name, draft)) }
        }
        return drafts
    }

    private func wire(_ sealed: SealedRecord, _ changes: [String: Change]) -> Wire.Record {
        var blobs: [String: String] = [:]
        for (name, field) in fields { if case .asset(_, let blob) = field { blobs[name] = blob } }
        for (name, change) in changes { if case .asset(let writing) = change { blobs[name] = writing.id.hex } }
        var record = Wire.Record()
        record.recordName = name
        record.recordType = type
        // Of a record that is made again nobody has seen one.
        record.changeTag = base.map { $0.read.isGone ? "" : $0.changeTag } ?? ""
        record.statement = sealed.statementBytes
        record.deleted = sealed.statement.kind == .delete
        for (name, content, _) in sealed.fields {
            let field: WireField =
                switch content {
                case .carried(let digest): .digest(digest)
                case .stored(let stored):
                    if case .asset = stored { .stored(stored, blob: blobs[name]) } else { .stored(stored, blob: nil) }
                }
            record.fields.append(Wire.Field(field, name: name))
        }
        return record
    }

    // MARK: What becomes of it

    #if LIBRARY
        /// The name is that of a record that was deleted: it goes on counting there.
        /// - Returns: whether it is sent anew.
        func makesAgain(by answer: Wire.ModifyRecordsResponse, in zone: SharedZone) throws(Refusal) -> Bool {
            guard base == nil, let there = answer.results.first?.serverRecord, there.deleted,
                let end = try zone.end(there, of: name)
            else { return false }
            base = end
            return true
        }
    #endif

    enum Answer: UInt8 {
        case stored = 0
        /// Another version stands in the way, or it is said not to be there.
        case conflict = 1
        /// It goes again once the roster's tail is here.
        case behind = 2
    }

    func take(_ answer: Wire.ModifyRecordsResponse, in zone: SharedZone) throws(Refusal) -> Answer {
        guard let last, answer.results.count == 1 else { throw Refusal("unexpected") }
        let result = answer.results[0]
        let item: WriteSettlement.Item =
            last.statement.kind == .delete
            ? .deletion(of: name) : .save(name, parent: last.statement.parent, wasStored: false)
        let settlement = WriteSettlement(
            [item], [WriteAnswer(result, in: .zone(zone.ground))],
            of: WriteSettlement.Batch(isAtomic: true, isOfZone: true, keepsTogether: false), isLast: false)
        switch settlement.course(of: 0) {
        case .stored:
            // A version in its place is held against what was there before; of a new record there is nothing.
            if base == nil { zone.note(last) }
            return .stored
        case .conflict(let isDenied):
            self.isDenied = isDenied
            return .conflict
        case .absent:
            isDenied = true
            return .conflict
        case .behind: return .behind
        case .unsaid: throw Refusal("unexpected")
        case .covers, .keepsGrowing, .takesOthers, .waits: throw Refusal("takesOthers")
        case .forbidden: throw Refusal("mayOnlyRead")
        case .refused: throw Refusal(code: result.failureCode ?? "")
        }
    }

    /// What the visitor is told of another version.
    enum Course: UInt8 {
        /// It is what was sent last, though nobody has answered that.
        case stored = 0
        /// Nothing that can be seen is different, or it is what was sent before: it goes on from there by itself.
        case goesOn = 1
        /// Somebody else has changed it: the visitor says what it is to be.
        case changed = 2
        case deleted = 3
    }

    /// - Parameter there: what there is now, verified; nil for a record that is gone, or never was.
    func course(over there: SharedZone.Shown?, in zone: SharedZone) throws(Refusal) -> Course {
        let isDeletion = last?.statement.kind == .delete
        guard let there else {
            if isDeletion { return .stored }
            // Nobody else draws the name of a record that is new.
            guard base != nil else { throw Refusal("unexpected") }
            return .deleted
        }
        let hash = there.read.verified.hash
        // What was sent before is not what the visitor has made of it since.
        if sent.contains(where: { $0 == hash }) { return sent.last == hash ? .stored : .goesOn }
        let objection = WriteConflict.objection(
            to: .record(hash: hash), after: base?.read.verified.hash, isDenied: isDenied, isRekeying: false)
        guard objection == nil else { throw Refusal("withheld") }
        let isSame = showsTheSame(there, in: zone)
        // What somebody has written meanwhile is not deleted unseen.
        if isDeletion { return isSame ? .goesOn : .changed }
        let conflict = WriteConflict(
            .save(wasStored: base != nil, recordType: type), policy: .ifUnchanged, isLast: false)
        return conflict.outcome(over: .record(hash: hash)) { isSame } == .merges ? .goesOn : .changed
    }

    /// What is said to be stored is not: there is what was there before it, or nothing. Somebody else may be later.
    func isUndone(in zone: SharedZone) -> Bool {
        guard let last else { return false }
        if let base, zone.shown(name)?.read.verified.hash == base.read.verified.hash { return true }
        return zone.lacks(last)
    }

    /// Nothing that the visitor could see is different from what it began with.
    private func showsTheSame(_ there: SharedZone.Shown, in zone: SharedZone) -> Bool {
        guard let base else { return false }
        var now: [String: RecordWriting.Field] = [:]
        guard (try? zone.open(there, { now[$0] = $1.written })) != nil else { return false }
        var before: [String: RecordWriting.Field] = [:]
        for (name, field) in fields { before[name] = field.written }
        return there.version(now).showsTheSame(as: base.version(before))
    }
}

extension SharedZone.Shown {
    fileprivate func version(_ fields: [String: RecordWriting.Field]) -> WrittenVersion {
        var digests: [String: Digest] = [:]
        for digest in read.digests { digests[digest.name] = digest.digest }
        return WrittenVersion(read.statement, digests: digests, fields: fields)
    }
}

extension ReadField {
    /// As the rules of writing know it.
    fileprivate var written: RecordWriting.Field {
        switch self {
        case .plain(let value): .plain(value)
        case .encrypted(let value): .encrypted(value)
        case .asset(let asset, _): .asset(asset)
        case .publicAsset, .omitted: .omitted
        }
    }
}
