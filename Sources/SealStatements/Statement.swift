public import SealPrimitives

/// What whoever saves or deletes a record signs: everything that must not be swapped, spliced, moved or rolled back.
public struct Statement: Sendable, Hashable {
    public enum Kind: UInt8, Sendable {
        case save = 1
        case delete = 2
    }

    public var kind: Kind
    public var container: String
    public var environment: Environment
    public var owner: UserID
    public var zoneName: String
    /// The zone's incarnation: a zone that is deleted and made again has the next one.
    public var zoneIncarnation: UInt32
    public var recordName: String
    public var recordType: String
    public var creator: UserID
    public var author: UserID
    /// The author's clock, microseconds since 1970. Informative: no check depends on it.
    public var clientTime: Int64
    /// Exactly the predecessor's + 1; 1 for a record's first statement.
    public var revision: UInt64
    /// The hash of the statement before; zero for the first.
    public var previous: Digest
    public var scopeID: Digest
    public var scopeIncarnation: UInt32
    public var epoch: UInt32
    /// The scope that the record leaves with this statement; nil where it stays.
    public var formerScope: FormerScope?
    /// The record key under the epoch's wrapping key; empty for a deletion, and in the public database.
    public var wrappedKey: [UInt8]
    /// The wrapped key was made in an earlier epoch or in another scope, and only wrapped anew since: whoever seals
    /// something next makes a fresh one, since people who were there then may hold this one.
    public var isKeyCarried: Bool
    /// The roster's head when the author signed: its rights are judged there.
    public var rosterSequence: UInt64
    public var rosterHead: Digest
    /// The zone's checkpoint that the author had verified; `Checkpoint.none` as long as there are none.
    public var checkpoint: Digest
    public var parent: String?
    public var share: String?
    /// Random, so that equal statements have unequal hashes.
    public var salt: ID16
    public var fieldsDigest: Digest

    /// A life of a scope in which a record was.
    public struct FormerScope: Sendable, Hashable {
        public let scopeID: Digest
        public let incarnation: UInt32

        public init(scopeID: Digest, incarnation: UInt32) {
            self.scopeID = scopeID
            self.incarnation = incarnation
        }
    }

    public init(
        kind: Kind, container: String, environment: Environment, owner: UserID, zoneName: String,
        zoneIncarnation: UInt32,
        recordName: String, recordType: String, creator: UserID, author: UserID, clientTime: Int64, revision: UInt64,
        previous: Digest, scopeID: Digest, scopeIncarnation: UInt32, epoch: UInt32, formerScope: FormerScope? = nil,
        wrappedKey: [UInt8], isKeyCarried: Bool = false, rosterSequence: UInt64, rosterHead: Digest, checkpoint: Digest,
        parent: String?, share: String?, salt: ID16, fieldsDigest: Digest
    ) {
        self.kind = kind
        self.container = container
        self.environment = environment
        self.owner = owner
        self.zoneName = zoneName
        self.zoneIncarnation = zoneIncarnation
        self.recordName = recordName
        self.recordType = recordType
        self.creator = creator
        self.author = author
        self.clientTime = clientTime
        self.revision = revision
        self.previous = previous
        self.scopeID = scopeID
        self.scopeIncarnation = scopeIncarnation
        self.epoch = epoch
        self.formerScope = formerScope
        self.wrappedKey = wrappedKey
        self.isKeyCarried = isKeyCarried
        self.rosterSequence = rosterSequence
        self.rosterHead = rosterHead
        self.checkpoint = checkpoint
        self.parent = parent
        self.share = share
        self.salt = salt
        self.fieldsDigest = fieldsDigest
    }

    /// The lives of zone and scope that it was made in.
    public var incarnations: Incarnations { Incarnations(zone: zoneIncarnation, scope: scopeIncarnation) }

    /// The epoch that its record key is wrapped under.
    public var epochContext: EpochContext { EpochContext(scopeID: scopeID, incarnations: incarnations, epoch: epoch) }

    /// Of a record in the public database, which has no scopes: signed, and nothing in it sealed.
    public var isPublic: Bool { scopeID == .zero }

    /// The record of a share itself.
    public var isShareRecord: Bool { recordType == Names.shareType || recordName == Names.zoneWideShare }

    /// Bytes of a wrapped record key.
    public static let wrappedKeyBytes = AEAD.overhead + 32
}

// MARK: Canonical encoding

extension Statement {
    public func canonicalBytes() -> [UInt8] {
        var writer = CanonicalWriter(capacity: 544)
        writer.number(kind.rawValue)
        writer.string(container)
        writer.number(environment.rawValue)
        writer.id(owner.id)
        writer.string(zoneName)
        writer.number(zoneIncarnation)
        writer.string(recordName)
        writer.string(recordType)
        writer.id(creator.id)
        writer.id(author.id)
        writer.number(clientTime)
        writer.number(revision)
        writer.digest(previous)
        writer.digest(scopeID)
        writer.number(scopeIncarnation)
        writer.number(epoch)
        writer.flag(formerScope != nil)
        if let formerScope {
            writer.digest(formerScope.scopeID)
            writer.number(formerScope.incarnation)
        }
        writer.blob(wrappedKey)
        writer.flag(isKeyCarried)
        writer.number(rosterSequence)
        writer.digest(rosterHead)
        writer.digest(checkpoint)
        writer.optionalString(parent)
        writer.optionalString(share)
        writer.id(salt)
        writer.digest(fieldsDigest)
        return writer.bytes
    }

    /// - Throws: `malformed`, `invalidName`, `invalidLength`: anything but the one valid encoding.
    public init(canonicalBytes bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .malformed }
        self.kind = kind
        container = try reader.name()
        guard let environment = Environment(rawValue: try reader.byte()) else { throw .malformed }
        self.environment = environment
        owner = UserID(try reader.id())
        zoneName = try reader.name()
        zoneIncarnation = try reader.number()
        recordName = try reader.name()
        recordType = try reader.name()
        creator = UserID(try reader.id())
        author = UserID(try reader.id())
        clientTime = try reader.number()
        revision = try reader.number()
        previous = try reader.digest()
        scopeID = try reader.digest()
        scopeIncarnation = try reader.number()
        epoch = try reader.number()
        formerScope =
            try reader.flag() ? FormerScope(scopeID: try reader.digest(), incarnation: try reader.number()) : nil
        wrappedKey = try reader.blob(atMost: Statement.wrappedKeyBytes)
        isKeyCarried = try reader.flag()
        rosterSequence = try reader.number()
        rosterHead = try reader.digest()
        checkpoint = try reader.digest()
        parent = try reader.optionalName()
        share = try reader.optionalName()
        salt = try reader.id()
        fieldsDigest = try reader.digest()
        try reader.finish()
        try check()
    }

    /// What a statement cannot say, whoever signs it: checked when one is read, and before one is signed.
    /// - Throws: `malformed`, `invalidName`, `invalidLength`.
    public func check() throws(SealError) {
        guard wrappedKey.count == (kind == .save && !isPublic ? Statement.wrappedKeyBytes : 0) else {
            throw .invalidLength
        }
        guard revision > 0, revision <= Limits.revision, (revision == 1) == (previous == .zero) else {
            throw .malformed
        }
        guard Names.isRecordType(recordType) else { throw .invalidName }
        guard parent != recordName else { throw .malformed }
        // The public database has no scopes: nothing of one may stand there.
        guard !isPublic || (epochContext == .publicDatabase && rosterSequence == 0 && rosterHead == .zero) else {
            throw .malformed
        }
        if let formerScope {
            guard kind == .save, revision > 1, !isPublic, formerScope != place else { throw .malformed }
        }
        // A key that has been wrapped before, in a record that has been saved before.
        guard !isKeyCarried || (kind == .save && revision > 1 && !isPublic) else { throw .malformed }
    }

    /// `H("statement", bytes)`: the leaf of the signed tree, and what the next statement names as its predecessor.
    public static func hash(_ canonicalBytes: [UInt8]) -> Digest {
        Hash.digest(.statement, pieces: 1, count: canonicalBytes.count) { $0.add(canonicalBytes[...]) }
    }
}
