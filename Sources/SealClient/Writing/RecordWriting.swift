public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// What is signed and sealed for records that are written in one scope: which statement follows what was there, under
/// which key, and what of a record is carried over instead of being sealed again.
public struct RecordWriting: Sendable {
    private let scope: Scope
    private let roster: Roster
    private let author: UserID
    private let time: Int64

    /// - Parameter time: of its author's clock, microseconds since 1970.
    public init(in view: ZoneView, at time: Int64) {
        (scope, roster, author, self.time) = (view.scope, view.roster, view.user, time)
    }

    /// What a record's next statement follows.
    public struct Base: Sendable {
        public let statement: Statement
        public let hash: Digest
        /// Nil for a deletion, and where the record was not opened.
        public let recordKey: SecretBytes?

        public init(_ statement: Statement, hash: Digest, recordKey: SecretBytes?) {
            (self.statement, self.hash, self.recordKey) = (statement, hash, recordKey)
        }

        /// A record made again after its deletion goes on counting, with a new creator.
        var creator: UserID? { statement.kind == .save ? statement.creator : nil }
    }

    /// Whether a copy is of less than this device has seen of the record: it is looked up before anything is sent.
    /// Where the server has lost what was seen it would take the copy, and every device that has seen more would refuse
    /// what it shows from then on.
    /// - Parameters:
    ///   - copied: the revision that the copy was made of; nil for a new record.
    ///   - seen: the newest one; nil for a record that was not seen.
    public static func isBehind(_ copied: UInt64?, of seen: UInt64?) -> Bool { seen ?? 0 > copied ?? 0 }

    /// Where the server has lost what this device has seen: the revision that goes on from there.
    public struct Restored: Sendable {
        public let revision: UInt64
        public let previous: Digest

        public init(revision: UInt64, previous: Digest) { (self.revision, self.previous) = (revision, previous) }

        /// R-LOST-4, of what there is of a record: each by its revision and hash.
        /// - Parameters:
        ///   - seen: what this device remembers of it.
        ///   - copied: what the copy that is to be saved was made of.
        ///   - stored: what the server has.
        ///   - gap: drawn for each record, from `gaps`.
        /// - Returns: nil where the server has lost nothing of it.
        public init?(
            seen: (revision: UInt64, hash: Digest)?, copied: (revision: UInt64, hash: Digest)?,
            stored: (revision: UInt64, hash: Digest)?, gap: UInt64
        ) {
            var last = seen
            if let copied, copied.revision > seen?.revision ?? 0 { last = copied }
            guard let last else { return nil }
            if let stored, stored.revision > last.revision || stored.hash == last.hash { return nil }
            self.init(revision: max(last.revision, stored?.revision ?? 0) + 2 + gap, previous: last.hash)
        }

        /// Whoever saves the same record again at the same time, with other things seen, most probably takes another
        /// number.
        public static let gaps: Range<UInt64> = 0..<4_096
    }

    // MARK: Keys

    /// Within an epoch the record's key stays and unchanged fields are carried.
    public func keepsKey(_ base: Base?, restored: Restored?) -> Bool {
        guard let base, base.statement.kind == .save, base.recordKey != nil, restored == nil else { return false }
        return !roster.sealsAgain(base.statement)
    }

    // MARK: Fields

    /// A field of a record that is to be saved.
    public enum Field: Sendable {
        case plain(Value)
        case encrypted(Value)
        /// Nil where it was not sent yet.
        case asset(SealedAsset?)
        /// It was not asked for.
        case omitted
    }

    /// How a field is sent: what stays under the record's key by its digest, the rest to be sealed.
    /// - Parameters:
    ///   - known: its digest in what the record's statement follows.
    ///   - keepsKey: the record's key stays.
    /// - Returns: nil for what cannot be sent.
    public static func draft(
        of field: @autoclosure () -> Field, isChanged: @autoclosure () -> Bool, known: Digest?, keepsKey: Bool
    ) -> FieldDraft? {
        if keepsKey, let known, !isChanged() { return .carried(known) }
        switch field() {
        case .plain(let value): return .plain(value)
        case .encrypted(let value): return .encrypted(value)
        case .asset(let sealed): return sealed.map { .asset($0) }
        case .omitted: return known.map { .carried($0) }
        }
    }

    // MARK: Drafts

    /// - Parameter taken: what was verified to go along with it.
    public func deletion(
        of recordName: String, type: String, after base: Base, restored: Restored?, taking taken: TakenRecords
    ) -> RecordDraft {
        RecordDraft(
            statement: statement(
                .delete, recordName, type, base, restored, parent: base.statement.parent, share: base.statement.share),
            recordKey: nil, fields: [], taking: taken)
    }

    /// - Parameters:
    ///   - share: that it names as its root. An old copy may name one that has ended since: it counts for this scope's
    ///     own root alone.
    ///   - fields: ascending by name; of those that stay, where `keepsKey`, only the digests.
    public func save(
        of recordName: String, type: String, after base: Base?, restored: Restored?, parent: String?, share: String?,
        fields: [(name: String, field: FieldDraft)]
    ) -> RecordDraft {
        let isRoot = share == scope.shareRecordName && recordName == roster.rootRecordName
        return RecordDraft(
            statement: statement(.save, recordName, type, base, restored, parent: parent, share: isRoot ? share : nil),
            recordKey: keepsKey(base, restored: restored) ? base?.recordKey : nil, fields: fields)
    }

    static func revision(after base: Base?) -> UInt64 { (base?.statement.revision ?? 0) + 1 }

    private func statement(
        _ kind: Statement.Kind, _ recordName: String, _ type: String, _ base: Base?, _ restored: Restored?,
        parent: String?, share: String?
    ) -> Statement {
        let former = (base?.statement).flatMap { $0.place == roster.place ? nil : $0.place }
        return Statement(
            kind: kind, container: scope.container, environment: scope.environment, owner: scope.owner,
            zoneName: scope.zoneName, zoneIncarnation: roster.incarnations.zone, recordName: recordName,
            recordType: type, creator: base?.creator ?? author, author: author, clientTime: time,
            revision: restored?.revision ?? RecordWriting.revision(after: base),
            previous: restored?.previous ?? base?.hash ?? .zero, scopeID: roster.scopeID,
            scopeIncarnation: roster.incarnations.scope, epoch: roster.currentEpoch.number, formerScope: former,
            wrappedKey: [], rosterSequence: roster.sequence, rosterHead: roster.head, checkpoint: Checkpoint.none,
            parent: parent, share: share, salt: ID16.zero, fieldsDigest: .zero)
    }
}

extension ZoneGround {
    /// Whether a record that is there comes under another key, so that every value that stays has to be at hand: in a
    /// new epoch or another scope, and after its key was carried over from an earlier one.
    public func sealsAgain(_ base: Statement, in scopeID: Digest) -> Bool {
        self[scopeID]?.roster.sealsAgain(base) ?? true
    }

    /// Whether a record that is there comes from another scope, or life of it.
    public func moves(_ base: Statement, into scopeID: Digest) -> Bool {
        base.kind == .save && base.place != self[scopeID]?.roster.place
    }
}

extension Roster {
    fileprivate var place: Statement.FormerScope {
        Statement.FormerScope(scopeID: scopeID, incarnation: incarnations.scope)
    }

    fileprivate func sealsAgain(_ base: Statement) -> Bool {
        base.epochContext != currentEpoch.context || base.isKeyCarried
    }
}
