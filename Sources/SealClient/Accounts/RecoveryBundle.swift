public import SealEnvelope
public import SealPrimitives

/// A way back into an account, as the server keeps it: all seeds, sealed under what only the account's user has.
public struct RecoveryBundle: Sendable {
    /// An account has one of each at most.
    public enum Kind: UInt32, Sendable {
        case printedKey = 1
        case passphrase = 2
        case passkey = 3
    }

    /// Whoever names it is given what is sealed.
    public let id: ID16
    public let sealed: [UInt8]
    public let kind: Kind

    /// - Parameter seeds: of all generations, oldest first.
    public init(of seeds: [AccountSeed], by key: RecoveryKey, _ kind: Kind, random: inout some RandomSource) {
        id = key.bundleID
        sealed = key.seal(seeds, random: &random)
        self.kind = kind
    }

    /// Whether a bundle that was opened brings back an account as it is now, with its newest keys.
    public static func brings(_ opened: [AccountSeed], back seeds: [AccountSeed]) -> Bool {
        SecretBytes.areEqual(
            SecretBytes(joining: opened.map { $0.bytes }), SecretBytes(joining: seeds.map { $0.bytes }))
    }
}

extension Wire.RecoveryBundle {
    public init(_ bundle: RecoveryBundle) {
        recoveryID = bundle.id.bytes
        sealed = bundle.sealed
        kind = bundle.kind.rawValue
    }
}
