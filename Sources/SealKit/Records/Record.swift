public import Foundation
import SealPrimitives
public import SealStatements

/// A record: CloudKit's `CKRecord`, as a value.
///
/// Plain fields are read and written by subscript and visible to the server; `encryptedValues` and assets are sealed on
/// this device before they leave it. A key is plain or encrypted, not both.
public struct Record: Sendable {
    /// A record's name and its zone.
    public struct ID: Sendable, Hashable, Codable, CustomStringConvertible {
        /// 1 to 255 printable ASCII characters, unique in the zone.
        public let recordName: String
        /// The zone that the record is in.
        public let zoneID: RecordZone.ID

        /// - Parameters:
        ///   - recordName: 1 to 255 printable ASCII characters; a random one unless it is given.
        ///   - zoneID: of the zone; the default zone unless it is given.
        public init(recordName: String = UUID().uuidString, zoneID: RecordZone.ID = .default) {
            self.recordName = recordName
            self.zoneID = zoneID
        }

        public var description: String { "\(zoneID)/\(recordName)" }
    }

    /// A reference to a record in the same zone, which need not exist.
    ///
    /// With `deleteSelf` the record that holds it goes with the target: in the same transaction, transitively, and when
    /// any of several targets goes. A target may have 750 such sources, a record 750 such references, and 1,500 records
    /// may go with one request (`limitExceeded`). A record with children (`parent`) does not go: the deletion is a
    /// `referenceViolation`. What is saved in the request that deletes the target stays.
    public struct Reference: Sendable, Hashable, Codable {
        /// What becomes of the record that refers when its target is deleted.
        public typealias Action = ReferenceValue.Action
        /// The target's name, in the zone of the record that refers.
        public let recordName: String
        /// What becomes of the record that refers when the target is deleted.
        public let action: Action

        /// - Parameters:
        ///   - recordName: the target's, in the zone of the record that refers.
        ///   - action: what becomes of the record that refers when the target is deleted.
        public init(recordName: String, action: Action = .none) {
            self.recordName = recordName
            self.action = action
        }
    }

    /// Its name and its zone.
    public let recordID: ID
    /// What kind of record it is: a letter, then letters, digits and underscores, up to 255, all of ASCII.
    public let recordType: String
    /// Given by the server at each write; nil until the record is saved.
    public internal(set) var recordChangeTag: String?
    /// By the server's clock.
    public internal(set) var creationDate: Date?
    /// By the server's clock.
    public internal(set) var modificationDate: Date?
    /// From the signed statements, verified.
    public var creatorUserRecordID: ID? { base.map { ID(recordName: $0.statement.creator.recordName) } }
    /// From the signed statements, verified.
    public var lastModifiedUserRecordID: ID? { base.map { ID(recordName: $0.statement.author.recordName) } }
    /// The record that this one belongs to: it must exist, or be saved in the same batch.
    public var parent: Reference?
    /// The record of the hierarchical share that this one is the root of; nil for every other record. Set when the
    /// share is saved.
    public internal(set) var share: Reference?

    var fields = FieldList<FieldState>()
    var changed: Set<String> = []
    /// What the record looked like when it was fetched or saved last, verified.
    var base: Base?

    /// A record that is nowhere but here until it is saved.
    /// - Parameters:
    ///   - recordType: what kind of record it is.
    ///   - recordID: its name and its zone; a random name in the default zone unless it is given.
    public init(recordType: String, recordID: ID = ID()) {
        self.recordType = recordType
        self.recordID = recordID
    }

    /// A record with a new name in a zone.
    public init(recordType: String, zoneID: RecordZone.ID) {
        self.init(recordType: recordType, recordID: ID(zoneID: zoneID))
    }

    enum FieldState: Sendable {
        case plain(Value)
        case encrypted(Value)
        indirect case asset(Asset)
        /// It exists, but was not asked for.
        case omitted
    }

    /// The predecessor of the next save: verified, unless it came with encoded system fields and waits for that.
    struct Base: Sendable {
        private let signed: Signed
        /// nil for a deletion, and for what came with encoded system fields.
        var recordKey: SecretBytes?
        var digests: FieldList<Digest>
        /// The fields as they were; nil where only their digests are known.
        var fields: FieldList<FieldState>?
        /// From encoded system fields, which anybody could have written: not to be signed after yet.
        var isUnverified: Bool

        /// Beside the record: each copy of a record would take several hundred bytes of it along.
        private final class Signed: Sendable {
            let statement: Statement
            let hash: Digest
            let proof: StatementProof

            init(_ statement: Statement, _ hash: Digest, _ proof: StatementProof) {
                self.statement = statement
                self.hash = hash
                self.proof = proof
            }
        }

        init(
            statement: Statement, hash: Digest, proof: StatementProof, recordKey: SecretBytes? = nil,
            digests: FieldList<Digest> = [:],
            fields: FieldList<FieldState>? = nil, isUnverified: Bool = false
        ) {
            signed = Signed(statement, hash, proof)
            self.recordKey = recordKey
            self.digests = digests
            self.fields = fields
            self.isUnverified = isUnverified
        }

        var statement: Statement { signed.statement }
        var hash: Digest { signed.hash }
        var proof: StatementProof { signed.proof }
    }

    // MARK: Plain fields and assets

    /// A plain field, or an asset, which is always sealed. Reading one of another type gives nil; writing nil removes
    /// the key.
    public subscript<T: RecordValueConvertible>(key: String) -> T? {
        get { content(key).flatMap { T(fieldContent: $0) } }
        set { set(key, newValue.map { FieldState($0.fieldContent) }) }
    }

    /// The same of whatever kind, to be cast: `record["title"] as? String`. Numbers cast to each type that holds them
    /// exactly.
    @_disfavoredOverload
    public subscript(key: String) -> (any RecordValueConvertible)? {
        get { content(key)?.value }
        set { set(key, newValue.map { FieldState($0.fieldContent) }) }
    }

    /// A plain field of whatever kind.
    public func plainValue(_ key: String) -> RecordValue? {
        guard case .plain(let value)? = fields[key] else { return nil }
        return value
    }

    /// Sets a plain field to a value whose type is known when the program runs; nil removes it.
    public mutating func setPlainValue(_ key: String, _ value: RecordValue?) { set(key, value.map { .plain($0) }) }

    private func content(_ key: String) -> Content? { fields[key].flatMap { Content($0) } }

    mutating func set(_ key: String, _ state: FieldState?) {
        fields[key] = state
        changed.insert(key)
    }

    // MARK: Keys

    /// Keys that have a value here: plain and encrypted ones, and assets; not those that were not asked for
    /// (``omittedKeys``).
    public func allKeys() -> [String] {
        fields.compactMap { if case .omitted = $0.value { nil } else { $0.key } }
    }

    /// Keys that were set or removed since the record was fetched or saved.
    public func changedKeys() -> [String] { changed.sorted() }

    /// Keys that exist on the server, but were not asked for.
    public var omittedKeys: [String] {
        fields.compactMap { if case .omitted = $0.value { $0.key } else { nil } }
    }

    // MARK: Encrypted fields

    /// Fields that only people with the zone's key can read: every kind but references and assets.
    ///
    /// Setting it replaces all of this record's encrypted fields, and none of its others.
    public var encryptedValues: EncryptedValues {
        get { EncryptedValues(fields: fields, changed: changed) }
        set { replaceEncryptedFields(by: newValue) }
        _modify {
            // They move out meanwhile: held twice, all fields would be copied by each change.
            var values = EncryptedValues(fields: fields, changed: changed)
            (fields, changed) = ([:], [])
            defer { (fields, changed) = (values.fields, values.changed) }
            yield &values
        }
    }
}

extension Record.Reference {
    /// - Parameter action: what becomes of the record that has the reference when this one is deleted.
    /// - Parameter recordID: of a record in the zone of the one that will hold the reference: only its name is kept.
    public init(recordID: Record.ID, action: Action = .none) {
        self.init(recordName: recordID.recordName, action: action)
    }

    /// The same, of a record that is at hand.
    public init(record: Record, action: Action = .none) { self.init(recordID: record.recordID, action: action) }
}

extension Record {
    /// Makes this record a child of another one in its zone; nil makes it nobody's.
    public mutating func setParent(_ parentRecord: Record?) { setParent(parentRecord?.recordID) }

    /// The same, by the parent's id.
    public mutating func setParent(_ parentRecordID: ID?) { parent = parentRecordID.map { Reference(recordID: $0) } }
}

extension Record: CustomStringConvertible {
    /// Names only: values do not end up in logs.
    public var description: String {
        "Record(\(recordType) \(recordID.recordName), keys: \(allKeys().joined(separator: " ")))"
    }
}

/// As its number. Stated here: the core, which is Embedded Swift, has no `Codable`.
extension ReferenceValue.Action: Codable {}
