import SealVectorChecks

/// HPKE's key schedule (RFC 9180, 5.1, base mode) by libsodium's HMAC: a second implementation, against which
/// swift-crypto's is held, and which shows what our face opens and seals where no published bytes can.
struct KeySchedule {
    let key, nonce, exporterSecret: [UInt8]

    init(sharedSecret: [UInt8], info: [UInt8]) throws {
        // kem 0x647a, kdf 0x0001, aead 0x0003
        let suite = [UInt8]("HPKE".utf8) + [0x64, 0x7A, 0, 1, 0, 3]
        func extract(salt: [UInt8], _ label: String, _ input: [UInt8]) -> [UInt8] {
            BareSodium.hkdfExtract(salt: salt, [UInt8]("HPKE-v1".utf8) + suite + [UInt8](label.utf8) + input)
        }
        let context = [0] + extract(salt: [], "psk_id_hash", []) + extract(salt: [], "info_hash", info)
        let secret = extract(salt: sharedSecret, "secret", [])
        func expand(_ label: String, count: UInt8) throws -> [UInt8] {
            let info = [0, count] + [UInt8]("HPKE-v1".utf8) + suite + [UInt8](label.utf8) + context
            guard let output = BareSodium.hkdfExpand(secret, info: info, count: Int(count)) else {
                throw VectorError.differs(label)
            }
            return output
        }
        key = try expand("key", count: 32)
        nonce = try expand("base_nonce", count: 12)
        exporterSecret = try expand("exp", count: 32)
    }

    /// The first message's, with the empty associated data of our single shots.
    func seal(_ plaintext: [UInt8]) -> [UInt8]? {
        BareAEAD.chaCha20Poly1305.seal(plaintext, key: key, nonce: nonce, associatedData: [])
    }

    func open(_ sealed: [UInt8]) -> [UInt8]? {
        BareAEAD.chaCha20Poly1305.open(sealed, key: key, nonce: nonce, associatedData: [])
    }
}
