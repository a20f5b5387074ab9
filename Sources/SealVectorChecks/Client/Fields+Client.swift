import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

extension Fields {
    /// The entries of one of the `logs`: its own, behind the first ones of the log that it parts from.
    func log(_ name: String) throws(VectorError) -> [SignedRosterEntry] {
        let logs = try object("logs")
        let log = try logs.object(name)
        let own = try log.entries("entries")
        guard log.has("partsFrom") else { return own }
        let trunk = try logs.object(try log.string("partsFrom")).entries("entries")
        let count = try log.int("at")
        guard (0...trunk.count).contains(count) else { throw .missing("at") }
        return trunk.prefix(count) + own
    }

    /// A page of one of the `logs` of the group: `log`, `from` its number `from`, `count` entries.
    func page(of shared: Fields) throws(VectorError) -> [SignedRosterEntry] {
        let entries = try shared.log(try string("log"))
        let (from, count) = (try int("from"), try int("count"))
        guard (0...entries.count).contains(from), (0...(entries.count - from)).contains(count) else {
            throw .missing("count")
        }
        return Array(entries[from..<from + count])
    }

    /// The account of `seeds`, oldest first, in a container.
    func own<H: HybridEncryption>(container: String, using: H.Type) throws(VectorError) -> OwnIdentity {
        let seeds = try accountSeeds()
        return try core(OwnIdentity(seeds, container: container, using: H.self))
    }

    func accountSeeds(_ key: String = "seeds") throws(VectorError) -> [AccountSeed] {
        try strings(key).map { text throws(VectorError) in
            guard let bytes = try? Hex.decode(text) else { throw .missing(key) }
            return try core(AccountSeed(SecretBytes(copying: bytes)))
        }
    }
}
