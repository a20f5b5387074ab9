import Foundation
import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire

/// What somebody with a share's URL is shown of it. The container is the link's.
package enum ShareMetadata {
    /// - Throws: `unknownItem`, `participantMayNeedVerification`, `permissionFailure`.
    package static func answer(
        _ message: Sealkit_V1_ShareMetadataRequest, to session: Session, _ rosters: RosterCache, now: Int64,
        in connection: any SQLConnection
    ) throws -> Sealkit_V1_ShareMetadataResponse {
        guard let link = try StoredLinks.find(message.routingID, in: connection) else { throw Seat.unknown }
        let (scope, zone) = (link.scope, link.scope.zone)
        let caller = try Caller(session, container: zone.container, in: connection)
        let roster = try rosters.roster(of: scope, in: connection)
        let seat = try Seat.find(of: caller, by: link, roster: roster, offersToken: false, now: now, in: connection)
        var response = Sealkit_V1_ShareMetadataResponse()
        response.container = zone.container
        response.environment = zone.environment.name
        response.zone = zone.wireID
        response.shareRecordName = scope.share?.recordName ?? ""
        var page = RosterPage()
        (response.entries, response.moreComing) = try page.entries(
            of: scope, from: message.firstSequence, through: scope.sequence, in: connection)
        // With what the last entries say it is judged.
        guard !response.moreComing else { return response }
        response.preview = link.preview
        switch seat {
        case .taken: response.alreadyMember = true
        case .free(let id, _):
            response.invitationID = Data(id.bytes)
            if let grant = try StoredGrants.all(of: .invitation(id), scope: scope, in: connection).last {
                response.grant = grant
            }
        }
        return response
    }
}
