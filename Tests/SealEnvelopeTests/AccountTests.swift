import SealKit
import SealPrimitives
import SealStatements
import Testing

@testable import SealEnvelope

@Suite(.timeLimit(.minutes(60))) struct AccountTests {
    @Test func `One seed gives keys that nobody links across containers or purposes`() throws {
        let one = try Account(1)
        let other = try Account(1, container: "com.example.other")
        let all = [
            one.keys.signingKey.verificationKey.bytes, other.keys.signingKey.verificationKey.bytes,
            one.keys.grantSeed.copyBytes(),
            other.keys.grantSeed.copyBytes(), try one.seed.loginKey().verificationKey.bytes,
            one.seed.storageKey().copyBytes(),
        ]
        #expect(Set(all).count == all.count)
        #expect(one.userID != other.userID)
        #expect(one.keys.grantKey.count == Identity.grantKeyBytes)
        #expect(throws: SealError.invalidLength) { try AccountSeed(secret(1, count: 31)) }
    }

    @Test func `A storage box opens for its purpose and context`() throws {
        var random = FixedRandom()
        let key = secret(9)
        let sealed = StorageBox.seal(secret(1), purpose: "link", context: [1], under: key, random: &random)
        #expect(SecretBytes.areEqual(try StorageBox.open(sealed, purpose: "link", context: [1], under: key), secret(1)))
        for (purpose, context, key) in [("other", [1], key), ("link", [2], key), ("link", [1], secret(8))]
            as [(String, [UInt8], SecretBytes)]
        {
            #expect(throws: SealError.authenticationFailed) {
                try StorageBox.open(sealed, purpose: purpose, context: context, under: key)
            }
        }
    }
}

@Suite(.timeLimit(.minutes(60))) struct RecoveryKeyTests {
    let key: RecoveryKey
    let alphabet = [Character]("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    init() throws {
        var random = FixedRandom(3)
        key = RecoveryKey(random: &random)
    }

    @Test func `It is thirteen groups of five, and reads back however it is typed`() throws {
        let text = key.text()
        #expect(text.split(separator: "-").map(\.count) == [Int](repeating: 5, count: 13))
        for typed in [
            text, text.lowercased(), text.replacing("-", with: " "), text.replacing("-", with: ""),
            text.replacing("0", with: "O").replacing("1", with: "l"), " \(text)\n",
        ] {
            #expect(SecretBytes.areEqual(try RecoveryKey(text: typed).bytes, key.bytes))
        }
        var random = FixedRandom(4)
        for _ in 0..<50 {
            let other = RecoveryKey(random: &random)
            #expect(SecretBytes.areEqual(try RecoveryKey(text: other.text()).bytes, other.bytes))
        }
    }

    @Test func `A single wrong character is always noticed, in the right group`() {
        let text = [Character](key.text())
        for index in text.indices where text[index] != "-" {
            for letter in alphabet where letter != text[index] {
                var typed = text
                typed[index] = letter
                #expect(RecoveryKey.mistypedGroups(in: String(typed)) == [index / 6 + 1])
                #expect(
                    RecoveryKey.isMistyped(group: String(typed.split(separator: "-")[index / 6]), at: index / 6 + 1))
                #expect(throws: SealError.mistypedRecoveryKey) { try RecoveryKey(text: String(typed)) }
            }
        }
    }

    @Test func `Two characters swapped in a group are always noticed, in the right group`() {
        let text = [Character](key.text())
        for group in 0..<13 {
            for first in 0..<5 {
                for second in 0..<first where text[group * 6 + first] != text[group * 6 + second] {
                    var typed = text
                    typed.swapAt(group * 6 + first, group * 6 + second)
                    #expect(RecoveryKey.mistypedGroups(in: String(typed)) == [group + 1])
                }
            }
        }
    }

    @Test func `A group can be looked at alone, in its place`() {
        let groups = key.text().split(separator: "-").map(String.init)
        for (index, group) in groups.enumerated() {
            #expect(!RecoveryKey.isMistyped(group: group, at: index + 1))
            #expect(!RecoveryKey.isMistyped(group: group.lowercased(), at: index + 1))
            for other in 1...13 where other != index + 1 { #expect(RecoveryKey.isMistyped(group: group, at: other)) }
            for wrong in ["", String(group.dropLast()), group + "0", "UUUUU"] {
                #expect(RecoveryKey.isMistyped(group: wrong, at: index + 1))
            }
        }
        for place in [-1, 0, 14] { #expect(RecoveryKey.isMistyped(group: "00000", at: place)) }
    }

    @Test func `Groups out of place are noticed, and so is anything that is no key`() {
        var groups = key.text().split(separator: "-").map(String.init)
        groups.swapAt(3, 7)
        #expect(RecoveryKey.mistypedGroups(in: groups.joined(separator: "-")) == [4, 8])
        for wrong in ["", "U", String(key.text().dropLast()), key.text() + "0", key.text().replacing("-", with: "_")] {
            #expect(RecoveryKey.mistypedGroups(in: wrong) == nil)
            #expect(throws: SealError.mistypedRecoveryKey) { try RecoveryKey(text: wrong) }
        }
    }

    @Test func `A bundle holds every generation's seed, for this key alone`() throws {
        var random = FixedRandom(5)
        let seeds = [AccountSeed(random: &random), AccountSeed(random: &random)]
        let sealed = key.seal(seeds, random: &random)
        #expect(try key.open(sealed).map { $0.bytes.copyBytes() } == seeds.map { $0.bytes.copyBytes() })
        #expect(throws: SealError.authenticationFailed) { try RecoveryKey(secret(1)).open(sealed) }
        for altered in alterations(of: sealed) {
            #expect(throws: SealError.authenticationFailed) { try key.open(altered) }
        }
        #expect(throws: SealError.malformed, "no seed") { try key.open(key.seal([], random: &random)) }
        #expect(key.bundleID != (try RecoveryKey(secret(1)).bundleID))
    }
}

@Suite(.serialized, .timeLimit(.minutes(60))) struct PasswordBoxTests {
    let password = SecretBytes(copying: [UInt8]("correct horse".utf8))

    @Test func `A box opens with its passphrase, and with no other`() throws {
        var random = FixedRandom()
        let box = try PasswordBox.seal(secret(1), password: password, random: &random)
        #expect(SecretBytes.areEqual(try PasswordBox.open(box, password: password), secret(1)))
        #expect(throws: SealError.authenticationFailed) { try PasswordBox.open(box, password: secret(1)) }
        for index in [8, 30, box.count - 1] {
            var altered = box
            altered[index] ^= 1
            #expect(throws: SealError.authenticationFailed) { try PasswordBox.open(altered, password: password) }
        }
    }

    @Test func `A box that names less than the floor is refused before anything is derived`() throws {
        var random = FixedRandom()
        let start = ContinuousClock.now
        for (passes, memory) in [(2, 262_144), (3, 262_143), (0, 0), (17, 262_144), (3, .max)] as [(UInt32, UInt32)] {
            var writer = CanonicalWriter()
            writer.number(passes)
            writer.number(memory)
            writer.raw([UInt8](repeating: 0, count: 16 + AEAD.overhead + 32))
            #expect(throws: SealError.weakParameters) { try PasswordBox.open(writer.bytes, password: password) }
            let parameters = PasswordParameters(passes: passes, memoryKiB: memory)
            #expect(throws: SealError.weakParameters) {
                try PasswordBox.seal(secret(1), password: password, parameters: parameters, random: &random)
            }
        }
        #expect(throws: SealError.malformed) {
            try PasswordBox.open([UInt8](repeating: 0, count: 63), password: password)
        }
        #expect(ContinuousClock.now - start < .milliseconds(100))
    }
}

@Suite(.timeLimit(.minutes(60))) struct HostileBytesTests {
    /// Every decoder, on valid bytes with a bit flipped, cut short or spliced: a typed error, or something that encodes
    /// to the very same bytes. (A crash ends the run.)
    @Test mutating func `Hostile bytes give an error or have one meaning`() throws {
        let alice = try Account(2)
        var zone = try Zone()
        let keys = try LinkSecret(secret(4)).invitationKeys(
            scopeID: zone.roster.scopeID, invitationID: ID16(prefixOf: .zero))
        let draft = try InvitationDraft(
            keys: keys, permission: .readOnly, invitee: alice.identity,
            sealedAddresses: SealedAddresses<XWingHPKE>.seal(
                "a", scopeID: .zero, invitationID: keys.id, to: [zone.owner.identity]),
            using: XWingHPKE.self)
        let rotation = try zone.owner.author.next(
            on: zone.roster, changes: [],
            settings: SettingsDraft(
                secret: try LinkSecret(secret(5)), publicAccess: (ID16(prefixOf: GrantHash.of([8])), .readOnly)),
            invitations: [draft], rotating: true, current: zone.key, time: 1, random: &zone.random)
        var entry = try RosterEntry(canonicalBytes: rotation.entry.bytes, container: zone.scope.container)
        // Every kind of change that has no place beside the others, for the decoder's sake.
        entry.changes += [
            .setPermission(alice.userID, .readOnly), .setRole(alice.userID, .administrator), .remove(alice.userID),
            .block(alice.userID), .unblock(alice.userID), .revoke(keys.id), .leave, .close,
            .identity(alice.identity.signed),
            .accept(
                .init(invitationID: keys.id, acceptor: alice.identity, signature: [UInt8](repeating: 1, count: 64))),
            .open(
                .init(
                    scope: zone.scope, incarnations: Incarnations(zone: 1, scope: 2), encryptionScope: .perRecord,
                    rootRecordName: "Root",
                    abandoned: .init(sequence: 3, hash: .zero), owner: zone.owner.identity)),
        ]
        let record = try zone.seal([RecordDraft(statement: zone.statement(), recordKey: nil, fields: [])]).records[0]
        let value = try Value.list([.string("a"), .string("né")]).canonicalBytes()
        let place = try Value.location(Location(latitude: 1, longitude: 2)).canonicalBytes()
        let container = zone.scope.container
        var outcomes = (same: 0, refused: 0)
        func hostile(_ valid: [UInt8], step: Int = 1, _ recode: ([UInt8]) throws(SealError) -> [UInt8]) {
            #expect((try? recode(valid)) == valid)
            var tries: [[UInt8]] = []
            for index in stride(from: 0, to: valid.count, by: step) {
                for bit in [0, 3, 7] as [UInt8] {
                    var altered = valid
                    altered[index] ^= 1 << bit
                    tries.append(altered)
                }
                for byte in [0, 0xFF] as [UInt8] {
                    var altered = valid
                    altered[index] = byte
                    if index + 3 < valid.count { for next in 1...3 { altered[index + next] = byte } }
                    tries.append(altered)
                }
                tries.append([UInt8](valid.prefix(index)))
                tries.append([UInt8](valid[index...]) + valid.prefix(index))
            }
            tries.append(valid + [0])
            for bytes in tries {
                if let again = try? recode(bytes) {
                    #expect(again == bytes)
                    outcomes.same += 1
                } else {
                    outcomes.refused += 1
                }
            }
        }
        hostile(value) { bytes throws(SealError) in try Value(canonicalBytes: bytes).canonicalBytes() }
        hostile(place) { bytes throws(SealError) in try Value(canonicalBytes: bytes).canonicalBytes() }
        hostile(Padding.pad(value)) { bytes throws(SealError) in Padding.pad(try Value(padded: bytes).canonicalBytes())
        }
        hostile(record.statementBytes) { bytes throws(SealError) in
            try Statement(canonicalBytes: bytes).canonicalBytes()
        }
        hostile(alice.identity.signed[0].bytes, step: 5) { bytes throws(SealError) in
            try Identity(canonicalBytes: bytes).canonicalBytes()
        }
        hostile(entry.canonicalBytes(), step: 23) { bytes throws(SealError) in
            try RosterEntry(canonicalBytes: bytes, container: container).canonicalBytes()
        }
        let url = ShareURL(origin: "https://a", routingID: keys.id, secret: try LinkSecret(secret(4)), scopeID: .zero)
            .text()
        hostile([UInt8](url.utf8)) { bytes throws(SealError) in
            guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed }
            return [UInt8](try ShareURL(text).text().utf8)
        }
        #expect(outcomes.refused > 1000)
        #expect(outcomes.same > 100)
    }
}
