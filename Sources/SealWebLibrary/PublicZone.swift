import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// A container's public database as a visitor reads and writes it: nothing there is sealed, and each record is signed
/// by its author, whose name certifies the keys. What was seen once is not taken back for as long as the module lives.
final class PublicZone {
    let scope: Scope
    private var store = MemorySightings()
    private var authors: [UserID: IdentityChain] = [:]
    /// By name, the newest of what was read: what is written goes on after it.
    private var known: [String: Shown] = [:]
    /// The answers whose records are here with their fields, oldest first, and how many bytes they had.
    private var held: [(answer: UInt64, names: [String], bytes: Int)] = []
    private var heldBytes = 0
    private var lastAnswer: UInt64 = 0
    /// What the queries that a page is in the middle of have given, by where each goes on: the newest ones.
    private var queries: [(marker: [UInt8], check: QueryCheck)] = []
    private static let mostQueries = 16
    /// Whoever pages through a large database would otherwise have all of it in memory that no module gives back.
    private static let mostHeldBytes = 16 << 20
    /// What an answer takes here beside its records.
    private static let bytesOfAnswer = 1024

    /// A record as it was verified: there, or gone.
    struct Shown {
        let statement: Statement
        let hash: Digest
        let isGone: Bool
        /// As the server says: microseconds since 1970.
        let created: Int64
        let modified: Int64
        let changeTag: String
        /// Nil for one that was read so long ago that it is to be asked for again.
        fileprivate(set) var content: Content?

        var subject: Query.Subject {
            var values: [String: Value] = [:]
            for (name, field) in content?.fields ?? [] { if case .plain(let value) = field { values[name] = value } }
            return Query.Subject(statement, created: created, modified: modified, values)
        }
    }

    /// What a record has; nothing of one that is gone.
    struct Content {
        let fields: [(name: String, field: ReadField)]
        fileprivate let digests: [FieldDigest]
        fileprivate let answer: UInt64
    }

    init(container: String, environment: Environment) {
        scope = Scope(
            container: container, environment: environment, owner: UserID(.zero), zoneName: Names.defaultZone)
    }

    func shown(_ name: String) -> Shown? { known[name] }

    /// What is known by now: an answer that was asked for by then may be older than what comes to be known later.
    var moment: Int64 { store.lastMoment() }

    /// What became of a record of an answer.
    enum Outcome {
        case read
        /// It was read anew, or written, while the server was asked: what is known is newer.
        case overtaken
        case refused(Refusal)
    }

    /// Why a record that was looked up is not shown, by what is known of it; nil where it is.
    func refusalToShow(_ name: String) -> Refusal? {
        guard let shown = known[name], !shown.isGone else { return Refusal("unknownItem") }
        return shown.content == nil ? Refusal("keepsChanging") : nil
    }

    /// Why a record is not shown under whose name the server shows nothing.
    /// - Parameters:
    ///   - code: what it says.
    ///   - moment: what was known when it was asked.
    func refusal(of name: String, said code: String?, asked moment: Int64) -> Refusal? {
        // No room, no permission: that it is there is not denied by it.
        guard let shown = known[name], !shown.isGone, Absence.isSaid(by: code) else { return Refusal(code: code ?? "") }
        // What this module has seen is not taken back without a word that is signed, unless it came to see it since.
        guard case .seenSince = RecordJudge(store).memory(of: name, readable: nil, asked: moment) else {
            return Refusal("withheld")
        }
        return refusalToShow(name)
    }

    // MARK: Queries

    /// - Parameter marker: where a page goes on; empty for the first.
    /// - Returns: what that query has given, as far as this module knows.
    func check(at marker: [UInt8], random: inout SystemRandom) -> QueryCheck {
        for (known, check) in queries where known == marker && !marker.isEmpty { return check }
        return QueryCheck(random: &random)
    }

    func keep(_ check: QueryCheck, at marker: [UInt8]) {
        guard !marker.isEmpty else { return }
        queries.removeAll { $0.marker == marker }
        if queries.count >= PublicZone.mostQueries { queries.removeFirst() }
        queries.append((marker, check))
    }

    /// A record that was read last, or not long ago.
    /// - Throws: `unknownItem` for what is gone or was never read; `keepsChanging` for what is to be asked for again.
    func there(_ name: String) throws(Refusal) -> (record: Shown, fields: [(name: String, field: ReadField)]) {
        guard let shown = known[name], !shown.isGone else { throw Refusal("unknownItem") }
        guard let content = shown.content else { throw Refusal("keepsChanging") }
        return (shown, content.fields)
    }

    // MARK: Reading

    /// Takes the authors of an answer over, each held against the keys that were seen of that person before.
    private func ground(_ chains: [Wire.IdentityChain], asked moment: Int64) throws(Refusal) -> PublicGround {
        var ground = PublicGround(scope: scope, asked: moment)
        for wire in chains {
            var chain = try core { () throws(SealError) in try IdentityChain(wire, container: scope.container) }
            if let before = authors[chain.userID], !chain.continues(before) {
                guard before.continues(chain) else { throw Refusal(ClientError.foreignKeys) }
                chain = before
            }
            authors[chain.userID] = chain
            ground.add(chain)
        }
        return ground
    }

    /// - Parameters:
    ///   - names: that were asked for; none of a query's.
    ///   - moment: what was known when it was asked for.
    ///   - bytes: of the answer that they came in.
    func take(
        _ records: [Wire.Record], by chains: [Wire.IdentityChain], named names: [String]?, asked moment: Int64,
        bytes: Int
    ) throws(Refusal) -> [Outcome] {
        let ground = try ground(chains, asked: moment)
        var reading = RecordReading(.publicDatabase(ground), desiredKeys: nil, refreshes: false)
        var judge = RecordJudge(store)
        // All that was seen is in one place while it changes: a second one would be copied.
        store = MemorySightings()
        defer { store = judge.store }
        lastAnswer += 1
        var outcomes: [Outcome] = []
        for (index, record) in records.enumerated() {
            do throws(Refusal) {
                outcomes.append(try take(record, named: names.map { $0[index] }, asked: moment, &reading, &judge))
            } catch {
                outcomes.append(.refused(error))
            }
        }
        hold(records.map { $0.recordName }, bytes: bytes)
        return outcomes
    }

    private func take(
        _ record: Wire.Record, named name: String?, asked moment: Int64, _ reading: inout RecordReading,
        _ judge: inout RecordJudge<MemorySightings>
    ) throws(Refusal) -> Outcome {
        let read = try client { () throws(ClientError) in try reading.read(record, recordName: name) }
        switch judge.admit([read.sighting], asked: moment, accepting: [], readable: nil).first {
        case .accepted, .unknownDeletion: break
        case .overtaken: return .overtaken
        default: throw Refusal("rollback")
        }
        var fields: [(name: String, field: ReadField)] = []
        if !read.isGone {
            _ = try core { () throws(SealError) in try reading.open(read) { fields.append(($0, $1)) } }
        }
        known[record.recordName] = Shown(
            statement: read.statement, hash: read.verified.hash, isGone: read.isGone, created: record.creationDate,
            modified: record.modificationDate, changeTag: record.changeTag,
            content: Content(fields: fields, digests: read.digests, answer: lastAnswer))
        return .read
    }

    /// The fields of the newest answer stay, and of those before it as many as there is room for.
    private func hold(_ names: [String], bytes: Int) {
        held.append((lastAnswer, names, bytes + PublicZone.bytesOfAnswer))
        heldBytes += bytes + PublicZone.bytesOfAnswer
        while heldBytes > PublicZone.mostHeldBytes, held.count > 1 {
            let oldest = held.removeFirst()
            heldBytes -= oldest.bytes
            for name in oldest.names where known[name]?.content?.answer == oldest.answer { known[name]?.content = nil }
        }
    }

    // MARK: Writing

    /// What becomes of a field.
    enum Change {
        case plain(Value)
        /// A file, whose bytes the server has.
        case asset(PublicAssetBytes)
        case removed
    }

    /// - Parameters:
    ///   - type: of a record that is new; nil for one that is there, which keeps its own.
    ///   - changes: what becomes of its fields; nil for its deletion.
    /// - Returns: the record for the server, and its author's signature.
    func write(
        _ name: String, type: String?, _ changes: [String: Change]?, as own: OwnIdentity, at time: Int64,
        random: inout SystemRandom
    ) throws(Refusal) -> (record: Wire.Record, signature: [UInt8]) {
        let before = known[name]
        let isThere = before.map { !$0.isGone } ?? false
        guard isThere == (type == nil) else { throw Refusal(isThere ? "exists" : "unknownItem") }
        // What it keeps is signed as well.
        if isThere, changes != nil, before?.content == nil { throw Refusal("keepsChanging") }
        let base = before.map { RecordWriting.Base($0.statement, hash: $0.hash, recordKey: nil) }
        let type = type ?? before?.statement.recordType ?? ""
        let writing = PublicWriting(in: scope, by: own.chain.userID, at: time)
        let own = own.keys.signingKey
        return try core { () throws(SealError) in
            var fields: [(name: String, field: WireField, digest: Digest)] = []
            let statement: Statement
            if let changes {
                statement = writing.save(of: name, type: type, after: base)
                fields = try Self.fields(changes, of: isThere ? before?.content : nil, after: base)
            } else {
                guard let base else { throw .missingKey }
                statement = writing.deletion(of: name, type: type, after: base)
            }
            let draft = PublicRecords.Draft(
                statement: statement, fields: fields.map { FieldDigest(name: $0.name, digest: $0.digest) })
            let made = try PublicRecords.sign([draft], signingKey: own, random: &random)
            var record = Wire.Record()
            record.recordName = name
            record.recordType = type
            record.changeTag = isThere ? before?.changeTag ?? "" : ""
            record.statement = made.statements.first ?? []
            record.deleted = changes == nil
            for (name, field, _) in fields { record.fields.append(Wire.Field(field, name: name)) }
            return (record, made.signature)
        }
    }

    private static func fields(
        _ changes: [String: Change], of before: Content?, after base: RecordWriting.Base?
    ) throws(SealError) -> [(name: String, field: WireField, digest: Digest)] {
        var known: [String: Digest] = [:]
        for digest in before?.digests ?? [] { known[digest.name] = digest.digest }
        var now: [String: PublicWriting.Field] = [:]
        for (name, field) in before?.fields ?? [] {
            switch field {
            case .plain(let value): now[name] = .plain(value)
            case .publicAsset(let asset, let blob): now[name] = .asset(asset, blob: blob)
            case .encrypted, .asset, .omitted: now[name] = .omitted
            }
        }
        for (name, change) in changes {
            switch change {
            case .plain(let value): now[name] = .plain(value)
            case .asset(let bytes): now[name] = .asset(try bytes.asset(), blob: bytes.blob)
            case .removed: now[name] = nil
            }
        }
        var fields: [(name: String, field: WireField, digest: Digest)] = []
        for (name, field) in now.sorted(by: { FieldSet.isOrdered($0.key, $1.key) }) {
            let content = try PublicWriting.content(
                of: field, isChanged: changes[name] != nil, known: known[name], after: base)
            if let content { fields.append((name, content, try content.digest(name: name))) }
        }
        return fields
    }
}
