import SealEnvelope
import SealPrimitives

/// The printed recovery key: as it is typed, and with a typing error of the fuzzer's choice.
enum RecoveryTextTarget: FuzzTarget {
    static let name = "recovery-text"
    static let maximumLength = 256
    static let seeds = [Seed.text("recovery", "text"), .hex("recovery", "key")]
    private static let letters = [UInt8]("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    static func run(_ input: [UInt8]) {
        type(String(decoding: input, as: UTF8.self))
        var choices = Choices(input)
        let key = certain("a key") { try RecoveryKey(SecretBytes(copying: (0..<32).map { _ in choices.byte() })) }
        let text = key.text()
        let again = certain("a printed key is read") { try RecoveryKey(text: text) }
        require(SecretBytes.areEqual(again.bytes, key.bytes), "another key than was printed")

        var wrong = [UInt8](text.utf8)
        let group = choices.number(below: 13)
        let first = group * 6 + choices.number(below: 5)
        if choices.flag() {
            wrong.swapAt(first, group * 6 + choices.number(below: 5))
        } else {
            wrong[first] = choices.oneOf(letters)
        }
        guard wrong != [UInt8](text.utf8) else { return }
        let typed = String(decoding: wrong, as: UTF8.self)
        refuses("a typing error", with: .mistypedRecoveryKey) { try RecoveryKey(text: typed) }
        require(RecoveryKey.mistypedGroups(in: typed) == [group + 1], "a typing error in another group")
    }

    private static func type(_ text: String) {
        let groups = RecoveryKey.mistypedGroups(in: text)
        guard let key = try? RecoveryKey(text: text) else { return }
        require(groups == [], "a key with typing errors")
        var plain: [UInt8] = []
        for byte in text.uppercased().utf8 where ![0x20, 0x2D, 0x0A, 0x0D, 0x09].contains(byte) {
            plain.append(
                byte == UInt8(ascii: "O") ? 0x30 : byte == UInt8(ascii: "I") || byte == UInt8(ascii: "L") ? 0x31 : byte)
        }
        require(key.text().utf8.filter { $0 != 0x2D } == plain, "a key that is printed otherwise")
    }
}

/// Recovery bundles: the seeds behind the printed key.
enum RecoveryBundleTarget: FuzzTarget {
    static let name = "recovery-bundle"
    static let maximumLength = 8_192
    static let seeds = [Seed.hex("recovery", "sealed"), .hex("recovery", "seeds"), .hex("recovery", "key")]
    private static let key = certain("a key") { try RecoveryKey(secret(0xC3)) }

    static func run(_ input: [UInt8]) {
        var pae = PAE(.recoveryBundle, pieces: 1)
        pae.add(key.bundleID)
        let sealed = seal(input, under: Hash.derive(key.bytes, .recoveryKey, []), pae)
        opensOnlyWhole(hostile: input, sealed: sealed, "a bundle", open: key.open)
        let isValid = !input.isEmpty && input.count % 32 == 0
        let seeds = try? key.open(sealed)
        require((seeds != nil) == isValid, "a bundle taken or refused wrongly")
        if let seeds { require(seeds.flatMap { $0.bytes.copyBytes() } == input, "other seeds") }
    }
}
