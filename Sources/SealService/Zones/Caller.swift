package import SealStatements
package import SealStorage
import SealWire

/// Who asks, in one container.
package struct Caller: Sendable {
    /// `identity.id`: the key of everything that this user owns.
    package let id: Int64
    package let userID: UserID
    package let accountID: Int64
    /// The session that asks (`Session.tokenHash`): one device.
    package let session: [UInt8]

    /// - Throws: `notAuthenticated` when the account has no identity in the container.
    package init(_ session: Session, container: String, in connection: any SQLConnection) throws {
        guard let found = try Identities.idAndName(account: session.accountID, container: container, in: connection)
        else {
            throw ServerError(
                .notAuthenticated, "The account has no identity in this container.",
                remedy: "Register an identity for the container, then try again.")
        }
        self.init(id: found.id, userID: found.userID, session: session)
    }

    /// Neither ever changes: who knows them need not look them up again.
    package init(id: Int64, userID: UserID, session: Session) {
        self.id = id
        self.userID = userID
        accountID = session.accountID
        self.session = session.tokenHash
    }
}
