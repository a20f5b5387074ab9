import SealEnvelope
import SealPrimitives
import SealStatements

/// Ways back into an account: each gives a recovery key.
extension Core {
    /// → The handle of a new recovery key, and its text, to be shown once.
    mutating func newRecoveryKey(_ writer: inout CanonicalWriter) {
        let key = RecoveryKey(random: &random)
        writer.number(recoveryKeys.insert(key, &last))
        writer.string(key.text())
    }

    /// A recovery key's text → its handle.
    mutating func readRecoveryKey(
        _ reader: inout CanonicalReader, _ writer: inout CanonicalWriter
    ) throws(SealError) {
        writer.number(
            recoveryKeys.insert(try RecoveryKey(text: try reader.string(atMost: Limits.nameBytes)), &last))
    }

    /// A recovery key's text → whether it has thirteen groups, and those that have a typing error, from 1.
    func mistypedGroups(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let groups = RecoveryKey.mistypedGroups(in: try reader.string(atMost: Limits.nameBytes))
        writer.flag(groups != nil)
        writer.number(UInt32(groups?.count ?? 0))
        for group in groups ?? [] { writer.number(UInt32(group)) }
    }

    /// A recovery key, what was typed → whether that is its text: whoever wrote it down shows it so.
    func isRecoveryKey(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let key = try recoveryKeys[try reader.number()]
        let typed = try RecoveryKey(text: try reader.string(atMost: Limits.nameBytes))
        writer.flag(SecretBytes.areEqual(key.bytes, typed.bytes))
    }

    /// Passphrase, name, the server's origin → the 32 bytes of a recovery key. It takes 256 MiB, which a module does
    /// not give back: its host has one for this alone, and ends it.
    func stretchPassphrase(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        var passphrase = try reader.blob(atMost: reader.remaining)
        defer { wipe(&passphrase) }
        let key = try RecoveryKey(
            passphrase: SecretBytes(copying: passphrase), name: try reader.string(atMost: Limits.nameBytes),
            origin: try reader.string(atMost: Limits.nameBytes))
        writer.blob(key.bytes.copyBytes())
    }

    /// What a passphrase has given → its handle.
    mutating func takePassphrase(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        var bytes = try reader.blob(atMost: 32)
        defer { wipe(&bytes) }
        writer.number(recoveryKeys.insert(try RecoveryKey(SecretBytes(copying: bytes)), &last))
    }

    /// What a passkey has answered to `RecoveryKey.passkeyInput`, the server's origin → the handle of its recovery key.
    mutating func takePasskey(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        var output = try reader.blob(atMost: 32)
        defer { wipe(&output) }
        let key = try RecoveryKey(
            passkey: SecretBytes(copying: output), origin: try reader.string(atMost: Limits.nameBytes))
        writer.number(recoveryKeys.insert(key, &last))
    }
}
