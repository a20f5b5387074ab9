import Foundation
package import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire

/// A login key that takes the place of another: signed by both, with the recovery bundles that go with it.
package struct KeyRotation: Sendable {
    package let login: Login
    package let formerKey: VerificationKey
    package let bundles: [RecoveryBundle]

    package static let replaced = ServerError(
        .keysReplaced, "Another device has given this account new keys.",
        remedy: "Enrol this device again from one that has them, or recover the account on it.")

    /// - Throws: `invalidArguments`; `notAuthenticated` unless the former key has signed the new one.
    package init(_ message: Sealkit_V1_RotateKeysRequest, origin: String) throws(ServerError) {
        login = try Login(message.login)
        formerKey = try LoginProof.loginKey(message.formerLoginKey)
        var bundles: [RecoveryBundle] = []
        for wire in message.recovery.prefix(3) { bundles.append(try RecoveryBundle(wire)) }
        guard Set(bundles.map(\.kind)).count == message.recovery.count else {
            throw ServerError(
                .invalidArguments, "Two recovery bundles are of one kind.", remedy: "Send one of each kind at most.")
        }
        self.bundles = bundles
        let signed = Challenges.loginRotation(origin: origin, newKey: login.loginKey)
        guard (try? formerKey.verify([UInt8](message.formerSignature), over: signed)) != nil else {
            throw ServerError(
                .notAuthenticated, "The login key in use has not signed the new one for this server.",
                remedy: "Sign the server's origin and the new key with the key that it takes the place of.")
        }
    }

    /// Whether this login key was an account's, which has another one now. Of an account that was deleted nobody has
    /// any: there is no device to be enrolled from.
    package static func isReplaced(_ loginKey: VerificationKey, in connection: any SQLConnection) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM login_key WHERE public_key = $1 AND replaced <> 0 AND account > 0",
            [.blob(loginKey.bytes)])
    }

    /// Whether this login key is an account's or was one, also of one that was deleted.
    private static func isTaken(_ loginKey: VerificationKey, in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM login_key WHERE public_key = $1", [.blob(loginKey.bytes)])
    }

    /// Puts the new key in the old one's place, in the caller's transaction: no session outlives it, and no recovery
    /// bundle.
    ///
    /// The same rotation again, after a lost answer, brings its recovery bundles and changes nothing else.
    /// - Returns: the account, and whether this is the first time.
    /// - Throws: `keysReplaced` when another key has taken the old one's place; `unknownItem`; `constraintViolation`
    ///   where a bundle's id is another bundle's.
    package func run(now: Int64, in connection: any SQLConnection) throws -> (account: Accounts.Row, isFirst: Bool) {
        if let account = try Accounts.find(loginKey: login.loginKey, in: connection) {
            let isRepeated = try connection.exists(
                "SELECT 1 FROM login_key WHERE public_key = $1 AND account = $2 AND replaced <> 0",
                [.blob(formerKey.bytes), .integer(account.id)])
            guard isRepeated else { throw Self.taken }
            try replaceBundles(of: account, now: now, in: connection)
            return (account, false)
        }
        guard try !Self.isTaken(login.loginKey, in: connection) else { throw Self.taken }
        guard let account = try Accounts.find(loginKey: formerKey, in: connection) else {
            if try Self.isReplaced(formerKey, in: connection) { throw Self.replaced }
            throw Accounts.unknownKey
        }
        try connection.execute(
            "UPDATE login_key SET replaced = $1 WHERE account = $2 AND replaced = 0",
            [.integer(max(1, now)), .integer(account.id)])
        try Accounts.add(login.loginKey, to: account.id, in: connection)
        try replaceBundles(of: account, now: now, in: connection)
        try Sessions.endAll(of: account.id, in: connection)
        try Devices.forgetAll(of: account.id, in: connection)
        return (account, true)
    }

    private func replaceBundles(of account: Accounts.Row, now: Int64, in connection: any SQLConnection) throws {
        try RecoveryBundle.deleteAll(of: account.id, in: connection)
        for bundle in bundles {
            do { try bundle.save(account: account.id, now: now, in: connection) } catch let refusal as ServerError
                where refusal.code == .serverRejectedRequest
            {
                // A code that nothing before the server answers with: who rotates knows that nothing has changed.
                throw ServerError(.constraintViolation, refusal.reason, remedy: refusal.remedy)
            }
        }
    }

    private static let taken = ServerError(
        .serverRejectedRequest, "The new login key is, or was, in use.", remedy: "Make a new seed.")
}
