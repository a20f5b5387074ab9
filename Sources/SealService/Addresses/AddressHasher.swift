package import SealPrimitives

/// Turns addresses into what the database keeps of them: a hash keyed with a secret that is not on the database's disk.
package struct AddressHasher: Sendable {
    private let key: SecretBytes

    package init(key: SecretBytes) { self.key = key }

    /// Opens the key `address.key` in the secrets folder, or makes it at the first start.
    package init(secretsFolder: String, randomBytes: (Int) -> [UInt8]) throws {
        key = try SecretFile.loadOrCreate(at: secretsFolder + "/address.key", randomBytes: randomBytes)
    }

    /// Of an address as somebody typed it. Throws `invalidArguments` when it is none.
    package func hash(_ address: String) throws(ServerError) -> [UInt8] { hash(try Address(address)) }

    package func hash(_ address: Address) -> [UInt8] {
        ServerHash.keyed(key, .address, Array(address.kind.rawValue.utf8), Array(address.normalized.utf8))
    }

    /// Eight digits are quickly tried through: their hashes need the secret as well.
    package func codeHasher() -> CodeHasher { CodeHasher(key: ServerHash.key(key, .codeKey)) }

    /// Seals query cursors, over restarts too. Made of the one secret that there is for such.
    package func cursorKey() -> SecretBytes { ServerHash.key(key, .cursorKey) }

    /// Names feeds and their readers in change tokens, over restarts too.
    package func feedKey() -> SecretBytes { ServerHash.key(key, .feedKey) }

    /// Seals messages that wait to be sent.
    package func outboxKey() -> SecretBytes { ServerHash.key(key, .outboxKey) }

    /// Makes the challenges that logins answer.
    package func challengeKey() -> SecretBytes { ServerHash.key(key, .challengeKey) }

    /// Hides in the database whom limits count.
    package func limitKey() -> SecretBytes { ServerHash.key(key, .limitKey) }

    /// Counts active accounts, over restarts too.
    package func activityKey() -> SecretBytes { ServerHash.key(key, .activityKey) }

    /// Seals alerts, and who is told of them.
    package func alertKey() -> SecretBytes { ServerHash.key(key, .alertKey) }

    /// What its account may know an address by: it says nothing to whoever has the database.
    package func publicID(of addressHash: [UInt8]) -> [UInt8] {
        Array(ServerHash.keyed(key, .addressID, addressHash).prefix(ID16.byteCount))
    }

    /// For rows that count what was sent to whom, which are no business of a database's reader either.
    package func sendingSubject(_ kind: SendingLimits.Kind, _ bytes: [UInt8]) -> [UInt8] {
        ServerHash.keyed(key, .sendingSubject, ServerBytes.of(kind.rawValue), bytes)
    }
}

package struct CodeHasher: Sendable {
    package let key: SecretBytes

    /// - Parameter address: as it was typed: the code comes back signed together with that very spelling.
    package func hash(_ code: String, verification: [UInt8], address: String) -> [UInt8] {
        ServerHash.keyed(key, .code, verification, Array(address.utf8), Array(code.utf8))
    }
}
