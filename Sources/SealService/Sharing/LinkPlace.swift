import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Where a link leads, for a client that no app has told: identities are registered in a container, and `ShareMetadata`
/// asks for one.
package enum LinkPlace {
    /// - Throws: `unknownItem`: no link has the id, or the caller is blocked there.
    package static func answer(
        _ message: Sealkit_V1_SharePlaceRequest, to session: Session, _ rosters: RosterCache,
        in connection: any SQLConnection
    ) throws -> Sealkit_V1_SharePlaceResponse {
        guard let link = try StoredLinks.find(message.routingID, in: connection) else { throw Seat.unknown }
        let zone = link.scope.zone
        if let caller = try Identities.idAndName(
            account: session.accountID, container: zone.container, in: connection),
            try rosters.roster(of: link.scope, in: connection).blocked.contains(caller.userID)
        {
            throw Seat.unknown
        }
        return .with {
            $0.container = zone.container
            $0.environment = zone.environment.name
        }
    }
}
