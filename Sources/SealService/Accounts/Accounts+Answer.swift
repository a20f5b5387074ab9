package import SealStorage
package import SealWire
import SwiftProtobuf

extension Accounts {
    /// What an account is told about itself.
    /// - Throws: `sessionExpired` once the session has ended.
    package static func answer(
        to session: Session, now: Int64, in connection: any SQLConnection
    ) throws -> Sealkit_V1_AccountResponse {
        guard try Sessions.isInForce(session, now: now, in: connection),
            let name = try connection.first(
                "SELECT name FROM account WHERE id = $1", [.integer(session.accountID)], { try $0.text("name") })
        else { throw ServerError.endedSession }
        let identities = try Identities.names(of: session.accountID, in: connection)
        let addresses = try LinkedAddresses.hashes(of: session.accountID, in: connection).count
        return .with {
            $0.account = name
            $0.sessionExpires = session.expires
            $0.identities = identities.map { "\($0.container)/\($0.user)" }
            $0.linkedAddresses = UInt32(addresses)
        }
    }
}
