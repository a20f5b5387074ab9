import SealClient
import SealPrimitives
import SealStatements

/// Statements of one zone with one share, unsigned: what is judged here is verified already.
struct Statements {
    let ann: UserID
    let bob: UserID
    let zone = Hash.digest(.link, [1])
    let share = Hash.digest(.link, [2])
    var ofZone: ScopePlace { ScopePlace(zone, 1) }
    var ofShare: ScopePlace { ScopePlace(share, 1) }

    init() throws(SealError) {
        ann = UserID(try ID16([UInt8](repeating: 1, count: 16)))
        bob = UserID(try ID16([UInt8](repeating: 2, count: 16)))
    }

    static func hash(_ statement: Statement) -> Digest { Statement.hash(statement.canonicalBytes()) }

    /// The zone's owner is Ann.
    func callAsFunction(
        _ revision: UInt64, after last: Statement? = nil, name: String = "note", in scope: Digest? = nil,
        from former: Digest? = nil, kind: Statement.Kind = .save, type: String = "Note", creator: UserID? = nil,
        by author: UserID? = nil, epoch: UInt32 = 0, roster: UInt64 = 5
    ) -> Statement {
        Statement(
            kind: kind, container: "org.example.notes", environment: .development, owner: ann, zoneName: "notes",
            zoneIncarnation: 1, recordName: name, recordType: type, creator: creator ?? ann, author: author ?? ann,
            clientTime: 1, revision: revision, previous: last.map(Statements.hash) ?? .zero, scopeID: scope ?? zone,
            scopeIncarnation: 1, epoch: epoch,
            formerScope: former.map { Statement.FormerScope(scopeID: $0, incarnation: 1) },
            wrappedKey: kind == .save ? [UInt8](repeating: 0, count: Statement.wrappedKeyBytes) : [],
            rosterSequence: roster, rosterHead: zone, checkpoint: Checkpoint.none, parent: nil, share: nil, salt: .zero,
            fieldsDigest: .zero)
    }
}

extension Sighting {
    convenience init(of statement: Statement, role: Role = .newest, isDeparture: Bool = false) {
        self.init(statement, hash: Statements.hash(statement), role: role, isDeparture: isDeparture)
    }
}

extension RecordJudge {
    /// One answer with one statement.
    mutating func meet(_ statement: Statement, asked: Int64? = nil) throws(Store.Failure) -> Verdict? {
        try admit([Sighting(of: statement)], asked: asked, accepting: [], readable: nil).first
    }
}
