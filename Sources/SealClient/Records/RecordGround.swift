public import SealEnvelope
public import SealPrimitives
public import SealStatements

/// What an answer's records are verified by: the rosters and keys of a zone's scopes, or in the public database their
/// authors' identities.
public enum RecordGround: Sendable {
    case zone(ZoneGround)
    case publicDatabase(PublicGround)

    /// Where what was seen is remembered.
    public var place: ScopePlace {
        switch self {
        case .zone(let ground): ground.place
        case .publicDatabase(let ground): ground.place
        }
    }

    /// When the server was asked.
    public var asked: Int64? {
        get {
            switch self {
            case .zone(let ground): ground.asked
            case .publicDatabase(let ground): ground.asked
            }
        }
        set {
            switch self {
            case .zone(var ground):
                ground.asked = newValue
                self = .zone(ground)
            case .publicDatabase(var ground):
                ground.asked = newValue
                self = .publicDatabase(ground)
            }
        }
    }

    public var isZone: Bool { if case .zone = self { true } else { false } }

    /// The scopes that this account reads, as of `ZoneGround`; nil for all.
    public var readableScopes: Set<ScopePlace>? {
        if case .zone(let ground) = self { ground.readableScopes } else { nil }
    }

    /// Whether it has what a statement says that it goes by. What is said is not verified yet: it decides only where to
    /// look.
    public func covers(_ statement: [UInt8]) -> Bool {
        guard case .zone(let ground) = self else { return true }
        guard let statement = try? Statement(canonicalBytes: statement) else { return false }
        return ground.view(of: statement) != nil
    }

    /// What opens a record's fields; nil where nothing is sealed.
    public func opener(of verified: VerifiedStatement) throws(SealError) -> RecordOpener? {
        switch self {
        case .zone(let ground): try ground.opener(of: verified)
        case .publicDatabase: nil
        }
    }
}
