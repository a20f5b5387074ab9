public import Foundation
public import SealEnvelope
import SealPrimitives
import SealStatements

/// What a device keeps of one account, in a ``KeyStore``.
///
/// There is no session token among it: the login key, which the seeds give, brings a new session, and a token that lies
/// around is one more thing to steal.
public struct AccountSecrets: Sendable {
    /// Scheme, host and port of the account's server.
    public var server: String
    /// Of all generations, oldest first.
    public var seeds: [AccountSeed]
    /// What the account's other devices call this one; nil for the host's name.
    public var deviceName: String?
    /// Of an account that was begun to be made: its recovery key, which each attempt gives the server, so that the one
    /// which is shown in the end is good. Nil once it is made, and where it was brought here.
    public var recoveryKey: RecoveryKey?
    /// Whether its making has not come to an end: the server may have it or not, and nobody has used it.
    /// `Account.create(…in:)` goes on with it, and `Account.load(from:)` does not give it.
    public var isUnfinished: Bool { recoveryKey != nil }

    /// - Throws: `invalidArguments` unless there are 1 to 64 seeds.
    public init(server: String, seeds: [AccountSeed], deviceName: String? = nil) throws(SealKitError) {
        self.server = server
        self.seeds = seeds
        self.deviceName = deviceName
        try check()
    }

    /// - Throws: `invalidArguments`, `incompatibleVersion` for what `encoded()` has not made.
    public init(encoded: Data) throws(SealKitError) {
        let file = try KeyFile(encoded, name: "what is kept")
        guard !file.isSealed else {
            throw SealKitError(
                .invalidArguments, "what is kept is sealed by a passphrase", remedy: "open it with FileKeyStore")
        }
        self = try file.secrets { () throws(SealKitError) in "" }
    }

    /// As a keychain keeps them: the content of an unsealed key file (FILES.md, "Key file"). It is the account: it
    /// belongs where only this user's apps read it, and in no log.
    public func encoded() throws(SealKitError) -> Data {
        try check()
        return try KeyFile.content(self, passphrase: nil)
    }

    func check() throws(SealKitError) {
        guard !seeds.isEmpty, seeds.count <= Limits.identityGenerations else {
            throw SealKitError(.invalidArguments, "an account has 1 to \(Limits.identityGenerations) seeds")
        }
    }

    /// Whether it is the same: in constant time, as far as the secrets go.
    func isSame(as other: AccountSecrets) -> Bool {
        SecretBytes.areEqual(secret, other.secret) && isUnfinished == other.isUnfinished && server == other.server
            && deviceName == other.deviceName
    }

    /// The seeds, and behind them the recovery key of an account that is unfinished.
    var secret: SecretBytes { SecretBytes(joining: seeds.map(\.bytes) + (recoveryKey.map { [$0.bytes] } ?? [])) }
}

extension AccountSecrets: CustomStringConvertible {
    public var description: String { "AccountSecrets(\(server))" }
}
