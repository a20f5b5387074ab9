import SealEnvelope
import SealHPKE
import SealPrimitives
import SealStatements
import SealWeb

extension Pieces {
    /// A new seed → its handle.
    mutating func newAccount(_ writer: inout CanonicalWriter) {
        writer.number(accounts.insert(AccountSeed(random: &random), &last))
    }

    /// A recovery key's text, the bundle that the server keeps → the handles of the account's seeds, oldest first.
    mutating func recoverAccounts(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let key = try RecoveryKey(text: try reader.string(atMost: Limits.nameBytes))
        let seeds = try key.open(try reader.blob(atMost: reader.remaining))
        writer.number(UInt32(seeds.count))
        for seed in seeds { writer.number(accounts.insert(seed, &last)) }
    }

    /// Account, container, time → the person's name there, the first identity and its signature.
    func firstIdentity(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let seed = try accounts[try reader.number()]
        let keys = try seed.identityKeys(
            container: try reader.string(atMost: Limits.nameBytes), using: SodiumHPKE.self)
        let identity = try keys.firstIdentity(time: try reader.number())
        writer.id(identity.userID.id)
        writer.blob(identity.signed[0].bytes)
        writer.blob(identity.signed[0].signature)
    }
}
