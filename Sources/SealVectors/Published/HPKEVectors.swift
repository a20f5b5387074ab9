import Crypto
import Foundation
import SealVectorChecks

/// draft-ietf-hpke-pq's vectors, of which one has our suite. `XWingHPKE` seals single messages without associated data;
/// the published ones are ten in a row with some, which swift-crypto opens under it.
enum HPKEPostQuantum: PublishedFamily {
    static let name = "HPKE with X-Wing"
    private static let kem = 0x647A
    private static let suite = HPKE.Ciphersuite(kem: .XWingMLKEM768X25519, kdf: .HKDF_SHA256, aead: .chaChaPoly)

    static func recognises(_ file: JSON) -> Bool {
        guard let first = file.list?.first else { return false }
        return ["kem_id", "kdf_id", "aead_id", "enc", "skRm", "encryptions"].allSatisfy { first.has($0) }
    }

    static func run(_ file: JSON, into report: inout PublishedReport) throws {
        var isOurSuiteThere = false
        for vector in file.list ?? [] {
            guard try vector.int("kem_id") == kem else {
                report.leaveOut("suites of other KEMs")
                continue
            }
            guard try vector.int("mode") == 0, try vector.int("kdf_id") == 1, try vector.int("aead_id") == 3 else {
                // Another KDF or AEAD takes its shared secret from the same KEM.
                report.test("X-Wing for another suite", accepted: true, by: try keyEncapsulation(vector, info: []))
                continue
            }
            isOurSuiteThere = true
            try run(vector, into: &report)
        }
        if !isOurSuiteThere { report.miss("no vector of suite kem 0x647a, kdf 0x0001, aead 0x0003") }
    }

    private static func keyEncapsulation(_ vector: Fields, info: [UInt8]) throws -> [PublishedVerdict] {
        let pair = XWingPair(seed: try vector.bytes("skRm"), publicKey: try vector.bytes("pkRm"))
        return try pair.verdicts(
            encapsulated: vector.bytes("enc"), sharedSecret: vector.bytes("shared_secret"), info: info)
    }

    private static func run(_ vector: Fields, into report: inout PublishedReport) throws {
        let info = try vector.bytes("info")
        report.test("X-Wing", accepted: true, by: try keyEncapsulation(vector, info: info))

        let schedule = try KeySchedule(sharedSecret: vector.bytes("shared_secret"), info: info)
        report.test(
            "key schedule", accepted: true,
            by: [
                PublishedVerdict("libsodium's key", schedule.key == (try vector.bytes("key"))),
                PublishedVerdict("libsodium's nonce", schedule.nonce == (try vector.bytes("base_nonce"))),
                PublishedVerdict(
                    "libsodium's exporter secret", schedule.exporterSecret == (try vector.bytes("exporter_secret"))),
            ])

        let key = try XWingPair(seed: vector.bytes("skRm"), publicKey: vector.bytes("pkRm")).privateKey()
        var recipient = try HPKE.Recipient(
            privateKey: key, ciphersuite: suite, info: Data(info), encapsulatedKey: Data(vector.bytes("enc")))
        for (number, message) in try vector.objects("encryptions").enumerated() {
            let (plaintext, sealed, data) = (try message.bytes("pt"), try message.bytes("ct"), try message.bytes("aad"))
            let opened = (try? recipient.open(sealed, authenticating: data)).map { [UInt8]($0) }
            let bare = BareAEAD.chaCha20Poly1305.open(
                sealed, key: schedule.key, nonce: try message.bytes("nonce"), associatedData: data)
            report.test(
                "message \(number + 1)", accepted: true,
                by: [
                    PublishedVerdict("swift-crypto", opened == plaintext),
                    PublishedVerdict("libsodium", bare == plaintext),
                ])
        }
        for (number, export) in try vector.objects("exports").enumerated() {
            let (context, count) = (
                try export.bytes("exporter_context"), try export.count("L", atMost: 255 * BareSodium.hmacBytes)
            )
            let secret = try recipient.exportSecret(context: context, outputByteCount: count).withUnsafeBytes {
                [UInt8]($0)
            }
            report.test(
                "export \(number + 1)", accepted: true,
                by: [
                    PublishedVerdict("swift-crypto", secret == (try export.bytes("exported_value")))
                ])
        }
    }
}
