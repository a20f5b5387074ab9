public import SealPrimitives

/// The unit that keys are handed out for: a zone, or one hierarchical share inside a zone.
public struct Scope: Sendable, Hashable {
    public let container: String
    public let environment: Environment
    public let owner: UserID
    public let zoneName: String
    /// Empty for the zone's own scope.
    public let shareRecordName: String

    public init(
        container: String, environment: Environment, owner: UserID, zoneName: String, shareRecordName: String = ""
    ) {
        self.container = container
        self.environment = environment
        self.owner = owner
        self.zoneName = zoneName
        self.shareRecordName = shareRecordName
    }

    /// `H("scope", container, environment, owner, zone, share or "")`.
    public var id: Digest {
        var pae = PAE(.scope, pieces: 5)
        pae.add(container)
        pae.add(environment.rawValue)
        pae.add(owner.id)
        pae.add(zoneName)
        pae.add(shareRecordName)
        return Hash.digest(pae)
    }
}

/// How a zone's records are encrypted, as its owner chose when it was made: CloudKit's `CKRecordZone.EncryptionScope`,
/// with its raw values.
public enum EncryptionScope: UInt8, Sendable {
    /// Records may be shared by themselves, with those below them: each such share has keys of its own.
    case perRecord = 0
    /// All of the zone is under the zone's own keys: it is shared as a whole or not at all.
    case perZone = 1
}

/// Which life of a zone and of a scope something belongs to. Both start at 1.
public struct Incarnations: Sendable, Hashable {
    public let zone: UInt32
    public let scope: UInt32

    public init(zone: UInt32, scope: UInt32) {
        self.zone = zone
        self.scope = scope
    }
}

/// One epoch of one scope: what a key, a grant or a statement is bound to.
public struct EpochContext: Sendable, Hashable {
    public let scopeID: Digest
    public let incarnations: Incarnations
    public let epoch: UInt32

    public init(scopeID: Digest, incarnations: Incarnations, epoch: UInt32) {
        self.scopeID = scopeID
        self.incarnations = incarnations
        self.epoch = epoch
    }

    /// Four pieces of a PAE, in this order.
    public func add(to pae: inout PAE) {
        pae.add(scopeID)
        pae.add(incarnations.zone)
        pae.add(incarnations.scope)
        pae.add(epoch)
    }

    public static let pieces = 4

    /// What stands in the statements of the public database, which has no scopes.
    public static let publicDatabase = EpochContext(
        scopeID: .zero, incarnations: Incarnations(zone: 1, scope: 0), epoch: 0)
}

/// Whom a grant is for: a member, or the bearer of an open invitation.
public enum GrantSubject: Sendable, Hashable, Comparable {
    case member(UserID)
    case invitation(ID16)

    public var kind: UInt8 {
        switch self {
        case .member: 1
        case .invitation: 2
        }
    }

    public var id: ID16 {
        switch self {
        case .member(let user): user.id
        case .invitation(let id): id
        }
    }

    public init(kind: UInt8, id: ID16) throws(SealError) {
        switch kind {
        case 1: self = .member(UserID(id))
        case 2: self = .invitation(id)
        default: throw .malformed
        }
    }

    public static func < (left: GrantSubject, right: GrantSubject) -> Bool {
        (left.kind, left.id) < (right.kind, right.id)
    }
}

public enum GrantHash {
    /// `H("grant-hash", sealed)`: what a roster entry commits to of each grant.
    public static func of(_ sealed: [UInt8]) -> Digest { Hash.digest(.grantHash, sealed) }
}
