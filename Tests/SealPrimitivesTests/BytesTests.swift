import SealPrimitives
import Testing

@Suite(.timeLimit(.minutes(60))) struct BytesTests {
    @Test func `Hexadecimal has one spelling`() throws {
        #expect(try Hex.decode("00ff10") == [0, 255, 16])
        #expect(Hex.encode([0, 255, 16]) == "00ff10")
        for wrong in ["0", "0g", "FF", "0 ", "é0", "0x00"] {
            #expect(throws: SealError.malformed) { try Hex.decode(wrong) }
        }
    }

    @Test func `Base64url has one spelling, without padding`() throws {
        var random = FixedRandom()
        for count in 0..<70 {
            let bytes = random.bytes(count)
            #expect(try Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
        for wrong in ["-_9", "-_8=", "+/8", "-_8 ", " -_8", "-", "-_8\n", "-_8é"] {
            #expect(throws: SealError.malformed) { try Base64URL.decode(wrong) }
        }
    }

    @Test func `Digests and ids have exactly their length, and ids sort like their bytes`() throws {
        #expect(throws: SealError.invalidLength) { try Digest([UInt8](repeating: 0, count: 31)) }
        #expect(throws: SealError.invalidLength) { try ID16([UInt8](repeating: 0, count: 17)) }
        let bytes = (0..<32).map { UInt8($0) }
        #expect(try Digest(bytes).bytes == bytes)
        #expect(try ID16(prefixOf: Digest(bytes)).bytes == [UInt8](bytes.prefix(16)))
        let ids = try [[1, 0], [0, 1], [0, 255], [255, 0]].map {
            try ID16([UInt8]($0) + [UInt8](repeating: 0, count: 14))
        }
        #expect(ids.sorted().map { [UInt8]($0.bytes.prefix(2)) } == [[0, 1], [0, 255], [1, 0], [255, 0]])
    }

    /// RFC 7693's BLAKE2b through libsodium, keyed and not, and FIPS 180-4's SHA-256.
    @Test func `Hashes are over the finished PAE`() {
        var pae = PAE(.field, pieces: 1)
        pae.add([1])
        #expect(Hash.digest(pae) == Hash.digest(.field, [1]))
        #expect(Hash.digest(.field, [1]) != Hash.digest(.field, [1], []))
        #expect(Hash.derive(secret(1), .field, [1]).copyBytes() != Hash.digest(.field, [1]).bytes)
        #expect(Hash.derive(secret(1), .field, [1]).copyBytes() != Hash.derive(secret(2), .field, [1]).copyBytes())
        #expect(Hash.identifier(secret(1), .recoveryID).bytes == Hash.derive(secret(1), .recoveryID).copyBytes())
    }
}

@Suite(.timeLimit(.minutes(60))) struct PasswordTests {
    @Test(arguments: [
        PasswordParameters(passes: 2, memoryKiB: 262_144), PasswordParameters(passes: 3, memoryKiB: 262_143),
        PasswordParameters(passes: 0, memoryKiB: 0), PasswordParameters(passes: 17, memoryKiB: 262_144),
        PasswordParameters(passes: 3, memoryKiB: 4_194_305), PasswordParameters(passes: .max, memoryKiB: .max),
    ]) func `Below the floor or above the ceiling nothing is derived`(parameters: PasswordParameters) {
        let start = ContinuousClock.now
        #expect(throws: SealError.weakParameters) {
            try parameters.derive(secret(1), salt: [UInt8](repeating: 0, count: PasswordParameters.saltBytes))
        }
        #expect(ContinuousClock.now - start < .milliseconds(50), "a derivation takes several times that")
    }

    @Test func `A salt has 16 bytes`() {
        #expect(throws: SealError.weakParameters) { try PasswordParameters.moderate.derive(secret(1), salt: []) }
    }
}

@Suite(.timeLimit(.minutes(60))) struct SecretTests {
    @Test func `Secrets are compared in constant time, by content`() {
        #expect(SecretBytes.areEqual(secret(1), secret(1)))
        #expect(!SecretBytes.areEqual(secret(1), secret(2)))
        #expect(!SecretBytes.areEqual(secret(1), secret(1, count: 31)))
        #expect(
            constantTimeEqual([1, 2], [1, 2]) && !constantTimeEqual([1, 2], [1, 3]) && !constantTimeEqual([1], [1, 2]))
    }

    @Test func `Bytes that were taken over are wiped`() {
        var bytes: [UInt8] = [1, 2, 3]
        #expect(SecretBytes(taking: &bytes).copyBytes() == [1, 2, 3])
        #expect(bytes.isEmpty)
    }

    @Test func `A secret shows its type and nothing else`() throws {
        // 0xA7 in every notation that a dump could use.
        let value = secret(0xA7)
        let key = try SigningKey(seed: value)
        for shown in [printed(value), printed(key)] {
            #expect(!shown.contains("a7a7"))
            #expect(!shown.contains("167, 167"))
            #expect(!shown.contains("167\n"))
        }
        #expect("\(value)" == "SecretBytes")
        #expect("\(key)" == "SigningKey")
    }

    private func printed(_ value: some Any) -> String {
        var text = "\(value) " + String(reflecting: value)
        dump(value, to: &text)
        return text
    }
}
