import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// A record that a writer saves or deletes, with plain fields alone.
struct WrittenItem {
    let recordName: String
    let isDeletion: Bool
    private(set) var recordType: String
    private(set) var parent: String?
    private var fields: [String: Value] = [:]
    private var changed: Set<String> = []
    /// What its statement follows, and the fields as they were there.
    private(set) var last: Version?
    /// It was fetched or saved before, and not deleted since.
    private let wasStored: Bool

    struct Version {
        let statement: Statement
        let hash: Digest
        let fields: [String: Value]

        init(_ statement: Statement, fields: [String: Value]) {
            self.statement = statement
            hash = Statement.hash(statement.canonicalBytes())
            self.fields = fields
        }

        func digests() throws(VectorError) -> [String: Digest] {
            var digests: [String: Digest] = [:]
            for (name, value) in fields {
                digests[name] = try core(WireField.stored(.plain(value), blob: nil).digest(name: name))
            }
            return digests
        }
    }

    init(_ item: Fields) throws(VectorError) {
        isDeletion = item.has("delete")
        recordName = try item.string(isDeletion ? "delete" : "save")
        if item.has("last") { last = try item.object("last").version() }
        recordType = try item.has("type") ? item.string("type") : last?.statement.recordType ?? ""
        if item.has("parent") { parent = try item.string("parent") }
        wasStored = last != nil
        guard !isDeletion else { return }
        fields = try item.values("fields")
        changed = Set(try item.strings("changed"))
    }

    private init(deleting version: Version) {
        (recordName, isDeletion, wasStored) = (version.statement.recordName, true, true)
        (recordType, last) = (version.statement.recordType, version)
    }

    static func deletion(after version: Version) -> WrittenItem { WrittenItem(deleting: version) }

    /// As the settlement knows it.
    func sent(wasStored: Bool) -> WriteSettlement.Item {
        isDeletion ? .deletion(of: recordName) : .save(recordName, parent: parent, wasStored: wasStored)
    }

    var kind: WriteConflict.Item { isDeletion ? .deletion : .save(wasStored: wasStored, recordType: recordType) }

    var base: RecordWriting.Base? {
        guard let last else { return nil }
        // Any key: nothing is sealed here.
        return RecordWriting.Base(
            last.statement, hash: last.hash,
            recordKey: last.statement.kind == .save ? SecretBytes(copying: [UInt8](repeating: 0, count: 32)) : nil)
    }

    // MARK: Sealing

    /// Its statement, but for wrapped key and salt, and whether its key stays.
    func statement(
        _ writing: RecordWriting, covering covered: [VerifiedStatement]
    ) throws(VectorError) -> (Statement, keepsKey: Bool) {
        guard !isDeletion else {
            guard let base else { throw .missing("last") }
            let taken = try core(TakenRecords(covered.map { ($0.statement.recordName, $0.hash) }))
            let draft = writing.deletion(of: recordName, type: recordType, after: base, restored: nil, taking: taken)
            var statement = draft.statement
            statement.fieldsDigest = draft.taken.digest
            return (statement, false)
        }
        let keepsKey = writing.keepsKey(base, restored: nil)
        let known = try last?.digests() ?? [:]
        var digests: [FieldDigest] = []
        for name in fields.keys.sorted(by: { FieldSet.isOrdered($0, $1) }) {
            guard let value = fields[name] else { continue }
            let draft = RecordWriting.draft(
                of: .plain(value), isChanged: changed.contains(name), known: known[name], keepsKey: keepsKey)
            switch draft {
            case .carried(let digest)?: digests.append(FieldDigest(name: name, digest: digest))
            case .plain(let value)?:
                digests.append(
                    FieldDigest(
                        name: name, digest: try core(WireField.stored(.plain(value), blob: nil).digest(name: name))))
            default: throw .differs("sends")
            }
        }
        let draft = writing.save(
            of: recordName, type: recordType, after: base, restored: nil, parent: parent, share: nil, fields: [])
        var statement = draft.statement
        statement.fieldsDigest = try core(FieldSet.digest(digests))
        return (statement, keepsKey)
    }

    // MARK: Another version

    func showsTheSame(_ there: Version) throws(VectorError) -> Bool {
        guard wasStored, let last else { return false }
        let known = WrittenVersion(
            last.statement, digests: try last.digests(), fields: last.fields.mapValues { .plain($0) })
        return WrittenVersion(
            there.statement, digests: try there.digests(), fields: there.fields.mapValues { .plain($0) }
        ).showsTheSame(as: known)
    }

    /// The deletion of what there is, or the record made again.
    func following(_ there: Version) -> WrittenItem {
        var item = self
        item.last = there
        return item
    }

    func merged(into there: Version, _ policy: WritePolicy) -> WrittenItem {
        var item = self
        let merge = WriteMerge(policy)
        item.fields = there.fields
        item.changed = []
        for (name, value) in fields
        where merge.takes(.present(isAtHand: true), isChanged: changed.contains(name)) {
            item.fields[name] = value
            item.changed.insert(name)
        }
        for name in changed where fields[name] == nil && merge.takes(.absent, isChanged: true) {
            item.fields[name] = nil
            item.changed.insert(name)
        }
        if !WriteMerge.takes(parent, over: last?.statement.parent) { item.parent = there.statement.parent }
        item.recordType = there.statement.recordType
        item.last = there
        return item
    }
}

extension Fields {
    /// A version as it is signed, with its plain `fields`.
    func version() throws(VectorError) -> WrittenItem.Version {
        let encoded = try bytes("statement")
        return WrittenItem.Version(
            try core(Statement(canonicalBytes: encoded)), fields: has("fields") ? try values("fields") : [:])
    }

    fileprivate func values(_ key: String) throws(VectorError) -> [String: Value] {
        var values: [String: Value] = [:]
        for field in try objects(key) {
            let encoded = try field.bytes("value")
            values[try field.string("name")] = try core(Value(canonicalBytes: encoded))
        }
        return values
    }
}
