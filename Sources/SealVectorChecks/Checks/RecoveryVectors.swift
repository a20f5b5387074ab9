import SealEnvelope
import SealPrimitives

package enum RecoveryVectors {
    static func check(_ test: Fields, type: String) throws(VectorError) {
        switch type {
        case "Text":
            let text = try test.string("text")
            if let groups = RecoveryKey.mistypedGroups(in: text), !groups.isEmpty {
                try test.expect("mistypedGroups", .array(groups.map { .int($0) }))
            }
            let key = try core(RecoveryKey(text: text))
            try test.expect("key", .hex(key.bytes))
            try test.expect("bundleID", .hex(key.bundleID))
        case "Passphrase":
            let (passphrase, name, origin) = (
                try test.secret("passphrase"), try test.string("name"), try test.string("origin")
            )
            let key = try core(RecoveryKey(passphrase: passphrase, name: name, origin: origin))
            try checkSeeds(test, key)
            try test.expect("key", .hex(key.bytes))
            try test.expect("bundleID", .hex(key.bundleID))
        case "Passkey":
            let (output, origin) = (try test.secret("output"), try test.string("origin"))
            let key = try core(RecoveryKey(passkey: output, origin: origin))
            try checkSeeds(test, key)
            try test.expect("key", .hex(key.bytes))
            try test.expect("bundleID", .hex(key.bundleID))
        default:
            let bytes = try test.secret("key")
            let key = try core(RecoveryKey(bytes))
            let seeds = try checkSeeds(test, key)
            var random = ReplayedRandom(try test.bytes("random"))
            try test.expect("sealed", .hex(key.seal(seeds, random: &random)))
        }
    }

    @discardableResult
    private static func checkSeeds(_ test: Fields, _ key: RecoveryKey) throws(VectorError) -> [AccountSeed] {
        let sealed = try test.bytes("sealed")
        let seeds = try core(key.open(sealed))
        try test.expect("seeds", .array(seeds.map { .hex($0.bytes) }))
        return seeds
    }
}
