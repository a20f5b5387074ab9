public import SealEnvelope

/// The printed key that brings an account back: `text()` to show it once, `RecoveryKey(text:)` to read a typed one.
public typealias RecoveryKey = SealEnvelope.RecoveryKey
/// An account's root secret.
public typealias AccountSeed = SealEnvelope.AccountSeed
