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

    /// A record as it was verified: there, or gone.
    struct Shown {
        let read: ReadRecord
        /// As the server says: microseconds since 1970.
        let created: Int64
        let modified: Int64
        let changeTag: String
        /// What of it an answer left out.
        let fields: [(name: String, field: ReadField)]

        var subject: Query.Subject {
            var values: [String: Value] = [:]
            for (name, field) in fields { if case .plain(let value) = field { values[name] = value } }
            return Query.Subject(read.statement, created: created, modified: modified, values)
        }
    }

    init(container: String, environment: Environment) {
        scope = Scope(
            container: container, environment: environment, owner: UserID(.zero), zoneName: Names.defaultZone)
    }

    func shown(_ name: String) -> Shown? { known[name] }

    // MARK: Reading

    /// Takes the authors of an answer over, each held against the keys that were seen of that person before.
    private func ground(_ chains: [Wire.IdentityChain]) throws(Refusal) -> PublicGround {
        for wire in chains {
            let chain = try core { () throws(SealError) in try IdentityChain(wire, container: scope.container) }
            if let before = authors[chain.userID], !chain.continues(before) {
                guard before.continues(chain) else { throw Refusal(ClientError.foreignKeys) }
                continue
            }
            authors[chain.userID] = chain
        }
        var ground = PublicGround(scope: scope, asked: nil)
        for chain in authors.values { ground.add(chain) }
        return ground
    }

    /// - Parameter names: that were asked for; none of a query's.
    /// - Returns: of each record why it is not believed, or nil.
    func take(
        _ records: [Wire.Record], by chains: [Wire.IdentityChain], asked names: [String]?
    ) throws(Refusal) -> [Refusal?] {
        var reading = RecordReading(.publicDatabase(try ground(chains)), desiredKeys: nil, refreshes: false)
        var refusals: [Refusal?] = []
        for (index, record) in records.enumerated() {
            do throws(Refusal) {
                try take(record, asked: names.map { $0[index] }, &reading)
                refusals.append(nil)
            } catch {
                refusals.append(error)
            }
        }
        return refusals
    }

    private func take(
        _ record: Wire.Record, asked name: String?, _ reading: inout RecordReading
    ) throws(Refusal) {
        let read = try client { () throws(ClientError) in try reading.read(record, recordName: name) }
        var judge = RecordJudge(store)
        switch judge.admit([read.sighting], asked: nil, accepting: [], readable: nil).first {
        case .accepted, .unknownDeletion: store = judge.store
        default: throw Refusal("rollback")
        }
        var fields: [(name: String, field: ReadField)] = []
        if !read.isGone {
            _ = try core { () throws(SealError) in try reading.open(read) { fields.append(($0, $1)) } }
        }
        known[record.recordName] = Shown(
            read: read, created: record.creationDate, modified: record.modificationDate, changeTag: record.changeTag,
            fields: fields)
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
        let isThere = before.map { !$0.read.isGone } ?? false
        guard isThere == (type == nil) else { throw Refusal(isThere ? "exists" : "unknownItem") }
        let base = before.map {
            RecordWriting.Base($0.read.statement, hash: $0.read.verified.hash, recordKey: nil)
        }
        let type = type ?? before?.read.statement.recordType ?? ""
        let writing = PublicWriting(in: scope, by: own.chain.userID, at: time)
        let own = own.keys.signingKey
        return try core { () throws(SealError) in
            var fields: [(name: String, field: WireField, digest: Digest)] = []
            let statement: Statement
            if let changes {
                statement = writing.save(of: name, type: type, after: base)
                fields = try Self.fields(changes, of: isThere ? before : nil, after: base)
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
        _ changes: [String: Change], of before: Shown?, after base: RecordWriting.Base?
    ) throws(SealError) -> [(name: String, field: WireField, digest: Digest)] {
        var known: [String: Digest] = [:]
        for digest in before?.read.digests ?? [] { known[digest.name] = digest.digest }
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
