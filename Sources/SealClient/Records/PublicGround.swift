public import SealStatements

/// The public database as one answer shows it.
public struct PublicGround: Sendable {
    /// With nobody as owner.
    public let scope: Scope
    /// Verified, by the names that they certify.
    public private(set) var authors: [UserID: IdentityChain] = [:]
    /// The moment from which on what this device comes to know says nothing against the answer; nil for none.
    public var asked: Int64?

    public init(scope: Scope, asked: Int64?) { (self.scope, self.asked) = (scope, asked) }

    /// Where what was seen is remembered.
    public var place: ScopePlace { ScopePlace(scope.id, EpochContext.publicDatabase.incarnations.zone) }

    /// Adds an author, once the chain is held against what is known of that person.
    public mutating func add(_ author: IdentityChain) { authors[author.userID] = author }
}
