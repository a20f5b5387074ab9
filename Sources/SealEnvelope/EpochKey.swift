public import SealPrimitives
public import SealStatements

/// The key of one epoch of one scope, checked against the key id that the roster commits to.
public struct EpochKey: Sendable {
    public let context: EpochContext
    let key: SecretBytes
    let wrappingKey: SecretBytes

    /// A new epoch's key.
    public init(random: inout some RandomSource, context: EpochContext) {
        self.init(unchecked: SecretBytes(random: &random), context: context)
    }

    /// - Throws: `keyMismatch` unless the key is the one that `keyID` names.
    public init(_ key: SecretBytes, context: EpochContext, keyID: Digest) throws(SealError) {
        guard key.count == 32, EpochKey.keyID(of: key, in: context) == keyID else { throw .keyMismatch }
        self.init(unchecked: key, context: context)
    }

    /// Without comparing with a key id: for new keys, and for showing what an old one does not open.
    init(unchecked key: SecretBytes, context: EpochContext) {
        self.context = context
        self.key = key
        var pae = PAE(.recordWrap, pieces: EpochContext.pieces)
        context.add(to: &pae)
        wrappingKey = Hash.derive(key, pae)
    }

    /// `H("key-id", scope, incarnations, epoch, key)`.
    public var keyID: Digest { EpochKey.keyID(of: key, in: context) }

    private static func keyID(of key: SecretBytes, in context: EpochContext) -> Digest {
        var pae = PAE(.keyID, pieces: EpochContext.pieces + 1)
        context.add(to: &pae)
        pae.announce(key.count)
        return Hash.digest(pae, followedBy: key)
    }

    // MARK: The key before

    /// Seals the key of the epoch before under this one, so that one grant opens all history.
    public func seal(previous: EpochKey, random: inout some RandomSource) -> [UInt8] {
        AEAD.seal(previous.key, under: key, associatedData: previousKeyData, random: &random)
    }

    /// What was sealed under this one as the key before. Which epoch's it is, the roster's key ids say.
    /// - Throws: `authenticationFailed`.
    public func previous(_ sealed: [UInt8]) throws(SealError) -> SecretBytes {
        try AEAD.openSecret(sealed, under: key, associatedData: previousKeyData)
    }

    /// - Throws: `authenticationFailed`; `keyMismatch`.
    public func openPrevious(_ sealed: [UInt8], epoch: Roster.Epoch) throws(SealError) -> EpochKey {
        try EpochKey(previous(sealed), context: epoch.context, keyID: epoch.keyID)
    }

    private var previousKeyData: [UInt8] {
        var pae = PAE(.previousKey, pieces: EpochContext.pieces)
        context.add(to: &pae)
        return pae.finish()
    }

    // MARK: Record keys

    func wrap(_ recordKey: SecretBytes, recordContext: Digest, draw: inout NonceDraw, wrapper: borrowing SealingKey)
        -> [UInt8]
    {
        wrapper.seal(recordKey, associatedData: recordKeyData(recordContext), draw: &draw)
    }

    /// - Throws: `authenticationFailed`.
    func unwrap(_ wrapped: [UInt8], recordContext: Digest) throws(SealError) -> SecretBytes {
        try AEAD.openSecret(wrapped, under: wrappingKey, associatedData: recordKeyData(recordContext))
    }

    private func recordKeyData(_ recordContext: Digest) -> [UInt8] {
        var pae = PAE(.recordKey, pieces: EpochContext.pieces + 1)
        context.add(to: &pae)
        pae.add(recordContext)
        return pae.finish()
    }
}

extension EpochKey: CustomStringConvertible {
    public var description: String { "EpochKey" }
}
