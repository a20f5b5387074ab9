package import Foundation
import SealPrimitives
package import SealStatements
import SealStorage
import SealWire

/// What comes with an entry of a roster and is kept beside it, checked against the roster that the entry leaves.
package struct RosterEnclosures: Sendable {
    /// Of the epoch that is in force after the entry.
    let grants: [(subject: GrantSubject, sealed: Data)]
    let links: [Sealkit_V1_Link]
    let sealedLinks: SealedLinkSet
    let addresses: [(invitation: ID16, hash: [UInt8])]

    init(
        grants: [(subject: GrantSubject, sealed: Data)], links: [Sealkit_V1_Link], sealedLinks: SealedLinkSet,
        addresses: [(invitation: ID16, hash: [UInt8])]
    ) {
        self.grants = grants
        self.links = links
        self.sealedLinks = sealedLinks
        self.addresses = addresses
    }

    /// An entry that shares nothing by itself brings grants alone, or nothing.
    package init(grants: [(subject: GrantSubject, sealed: Data)]) {
        self.init(grants: grants, links: [], sealedLinks: .none, addresses: [])
    }

    func store(by caller: Caller, epoch: UInt32, scope: ScopeRow, in connection: any SQLConnection) throws {
        for grant in grants {
            try StoredGrants.store(grant.sealed, for: grant.subject, epoch: epoch, scope: scope, in: connection)
        }
        for link in links { try StoredLinks.store(link, by: caller, scope: scope, in: connection) }
        try sealedLinks.store(scope: scope, in: connection)
        for address in addresses {
            try StoredLinks.storeAddress(address.hash, of: address.invitation, scope: scope, in: connection)
        }
    }
}
