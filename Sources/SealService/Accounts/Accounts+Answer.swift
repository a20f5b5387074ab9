package import SealStorage
package import SealWire
import SwiftProtobuf

extension Accounts {
    /// What an account is told about itself.
    /// - Throws: `sessionExpired` once the session has ended.
    package static func answer(
        to session: Session, in connection: any SQLConnection
    ) throws -> Sealkit_V1_AccountResponse {
        guard let standing = try Sessions.standing(of: session, in: connection) else { throw ServerError.endedSession }
        let identities = try Identities.names(of: session.accountID, in: connection)
        let addresses = try LinkedAddresses.hashes(of: session.accountID, in: connection).count
        return .with {
            $0.account = standing.account
            $0.sessionExpires = standing.expires
            $0.identities = identities.map { "\($0.container)/\($0.user)" }
            $0.linkedAddresses = UInt32(addresses)
        }
    }
}
