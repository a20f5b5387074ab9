import CSodium
import Foundation
import SealClient
import SealCoding
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit

/// Attacks that use a key, a signature or a format for what it is not.
extension KeyAttacks {
    @Test("Password parameters below the compiled-in floor: nothing is derived.")
    func attack05_weakPasswordParameters() async throws {
        let account = try await Account.create(transport: try HTTPTransport(server: ServerProcess.shared.get().origin))
            .account
        let folder = try TemporaryFolder()
        let password = [UInt8]("correct horse".utf8)
        var random = SystemRandom()
        // A box as an attacker who can write to the file makes it: cheap to guess, and good in every other respect.
        let salt = random.bytes(PasswordParameters.saltBytes)
        var header = CanonicalWriter()
        header.number(UInt32(1))
        header.number(UInt32(64))
        header.raw(salt)
        var key = [UInt8](repeating: 0, count: 32)
        let derived = password.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map {
                crypto_pwhash(&key, 32, $0, UInt64(bytes.count), salt, 1, 65_536, crypto_pwhash_ALG_ARGON2ID13)
            }
        }
        #expect(derived == 0)
        var pae = PAE(.passwordBox, pieces: 1)
        pae.add(header.bytes)
        let data = pae.finish()
        let weak = SecretBytes(copying: key)
        let box = header.bytes + AEAD.seal(account.seed.bytes, under: weak, associatedData: data, random: &random)
        let plain = try AEAD.open([UInt8](box.dropFirst(header.bytes.count)), under: weak, associatedData: data)
        #expect(plain == account.seed.bytes.copyBytes(), "without the floor it opens")
        expectRefused(.weakParameters) { _ = try PasswordBox.open(box, password: SecretBytes(copying: password)) }

        let file = folder.url.appendingPathComponent("weak.json")
        let content: [String: Any] = [
            "format": "sealkit-key-file", "version": 1, "server": account.server, "sealed": true,
            "seeds": Base64URL.encode(box),
        ]
        let bytes = try JSONSerialization.data(withJSONObject: content)
        try bytes.write(to: file)
        await expectRefused(.invalidArguments) {
            _ = try KeyFile(contentsOf: file).open { () throws(SealKitError) in "correct horse" }
        }
        #expect(try Data(contentsOf: file) == bytes)
    }

    @Test("An older suite or format version than the client's minimum is refused.")
    func attack06_anOlderVersion() async throws {
        let world = try await AttackedZone()
        // A statement whose author signed it under the label of an earlier suite.
        let view = try await world.view(world.bob)
        let good = try await Forgery.record(by: world.bob, zone: world.joined, body: "old suite")
        let root = try StatementTree(leaves: [Statement.hash([UInt8](good.statement))]).root
        var pae = PAE(pieces: 3)
        pae.add("sealkit/0/statements")
        pae.add(root)
        pae.add(UInt32(1))
        let message = pae.finish()
        let signature = world.bob.identity.keys.signingKey.sign(message: message)
        try world.bob.identity.keys.signingKey.verificationKey.verify(signature, message: message)
        var old = good
        old.proof.signature = Data(signature)
        #expect(try Forgery.verifies(good, view.roster))
        let (ann, network) = try world.ann.freshBehindAttacker()
        network.show([old])
        await expectRefused(.integrityFailure, by: .invalidSignature) {
            _ = try await ann.own.record(for: Record.ID(recordName: "forged", zoneID: world.zone))
        }
        // A URL, a key file and a token of other versions.
        let url = try #require(world.share.url)
        let hash = try #require(url.firstIndex(of: "#"))
        for version in [0, 2] as [UInt8] {
            var part = try Base64URL.decode(url[url.index(after: hash)...])
            part[0] = version
            let other = String(url[...hash]) + Base64URL.encode(part)
            await expectRefused(.invalidArguments) { _ = try await world.bob.container.shareMetadata(for: other) }
        }
        #expect(throws: Never.self) { try ShareURL(url) }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("key.json")
        try KeyFile.write(world.ann.account, to: file, passphrase: nil)
        let text = try String(contentsOf: file, encoding: .utf8)
        for version in ["0", "2"] {
            try text.replacing("\"version\" : 1", with: "\"version\" : \(version)").write(
                to: file, atomically: true, encoding: .utf8)
            await expectRefused(.incompatibleVersion) { _ = try KeyFile(contentsOf: file) }
        }
        var random = SystemRandom()
        let key = try SigningKey(seed: SecretBytes(random: &random))
        let token = PasetoPublic.sign([1, 2, 3], footer: [], key: key)
        #expect(try PasetoPublic.verify(token, footer: [], key: key.verificationKey) == [1, 2, 3])
        for header in ["v3.public.", "v2.public.", "v4.local."] {
            expectRefused(.malformed) {
                _ = try PasetoPublic.verify(
                    token.replacing("v4.public.", with: header), footer: [], key: key.verificationKey)
            }
        }
    }

    @Test("Points of low order, and keys and signatures that are not canonical, are refused on every path.")
    func attack07_lowOrderPointsAndOtherSpellings() async throws {
        let world = try await AttackedZone()
        let mallory = try await Person()
        let lowOrder = [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ]
        let (ann, network) = try world.ann.behindAttacker()
        try await world.promote(world.bob)
        let roster = try await ann.keeper(of: world.zone).refresh().roster
        for point in lowOrder {
            let grantKey = Array(mallory.identity.chain.current.grantKey.dropLast(32)) + (try Hex.decode(point))
            // In an identity that its owner signed: look-ups, and what the server takes in.
            let chain = selfSigned(
                mallory.identity.keys.signingKey, key: mallory.identity.keys.signingKey.verificationKey.bytes, grantKey)
            network.beHonest()
            network.rewrite("directory/lookup", Sealkit_V1_LookupIdentitiesResponse.self) {
                $0.results[0].chain = chain
            }
            await expectRefused(.integrityFailure, by: .invalidKey) {
                _ = try await ann.container.shareParticipant(forUserRecordID: mallory.container.userRecordID())
            }
            let request = Sealkit_V1_RegisterIdentityRequest.with {
                $0.container = ann.container.containerIdentifier
                $0.chain = chain
            }
            await expectRefused(.invalidArguments) {
                let _: Sealkit_V1_RegisterIdentityResponse = try await mallory.account.call(
                    Endpoints.accounts.registerIdentity, request)
            }
            // In an invitation by an administrator; and in an enrolment.
            let draft = try Forgery.invitation(of: mallory, to: roster)
            let invitation = Invitation(
                id: draft.id, permission: .readOnly, invitee: nil, signingKey: draft.signingKey, grantKey: grantKey,
                grantHash: .zero)
            network.serve([Forgery.entry(by: world.bob, on: roster, [.invite(invitation)])])
            await expectRefused(.integrityFailure, by: .invalidKey) { _ = try await ann.own.share(for: world.zone) }
            let reveal = Enrolment.Reveal(grantKey: grantKey, nonce: .zero)
            expectRefused(.invalidKey) {
                _ = try Enrolment.Transcript(
                    enrolmentID: .zero, commitment: reveal.commitment(enrolmentID: .zero), answer: .zero,
                    reveal: reveal,
                    loginKey: mallory.identity.keys.signingKey.verificationKey)
            }
            // And as an Ed25519 key, of small order or in a second spelling.
            let signing = selfSigned(
                mallory.identity.keys.signingKey, key: try Hex.decode(point), mallory.identity.chain.current.grantKey)
            network.beHonest()
            network.rewrite("directory/lookup", Sealkit_V1_LookupIdentitiesResponse.self) {
                $0.results[0].chain = signing
            }
            await expectRefused(.integrityFailure, by: .invalidKey) {
                _ = try await ann.container.shareParticipant(forUserRecordID: mallory.container.userRecordID())
            }
        }
        // The same signature spelled with S plus the group's order: equal to a verifier that reduces.
        network.beHonest()
        _ = try await ann.own.record(for: world.note.recordID)
        var real = try #require(network.records.last)
        real.proof.signature = Data(KeyAttacks.plusOrder([UInt8](real.proof.signature)))
        let spelled = real
        network.show([spelled])
        await expectRefused(.integrityFailure, by: .invalidSignature) {
            _ = try await ann.own.record(for: world.note.recordID)
        }
        let entry = Forgery.entry(by: ann, on: roster, [.block(mallory.userID)])
        let respelled = SignedRosterEntry(bytes: entry.bytes, signature: KeyAttacks.plusOrder(entry.signature))
        network.serve([respelled])
        await expectRefused(.integrityFailure) { _ = try await ann.own.share(for: world.zone) }
        network.beHonest()
        #expect(try await ann.body(of: world.note.recordID) == "from Ann")
    }

    /// A chain of one generation, encoded by hand: the types themselves hold no such key.
    private func selfSigned(_ signer: SigningKey, key: [UInt8], _ grantKey: [UInt8]) -> Sealkit_V1_IdentityChain {
        var writer = CanonicalWriter()
        writer.string("org.example.notes")
        writer.number(UInt32(0))
        writer.raw(key)
        writer.raw(grantKey)
        writer.number(Int64(0))
        writer.digest(.zero)
        let signature = signer.sign(Identity.signedBytes(writer.bytes))
        return .with {
            $0.identities = [
                .with {
                    $0.statement = Data(writer.bytes)
                    $0.signature = Data(signature)
                }
            ]
        }
    }

    static func plusOrder(_ signature: [UInt8]) -> [UInt8] {
        let order: [UInt8] = [
            0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0x10,
        ]
        var spelled = signature
        var carry = 0
        for index in 0..<32 {
            carry += Int(spelled[32 + index]) + Int(order[index])
            spelled[32 + index] = UInt8(truncatingIfNeeded: carry)
            carry >>= 8
        }
        return spelled
    }

    @Test("A signature or ciphertext made for one purpose never verifies for another: the full matrix of labels.")
    func attack08_onePurposeForAnother() async throws {
        var random = SystemRandom()
        let key = try SigningKey(seed: SecretBytes(random: &random))
        let secret = SecretBytes(random: &random)
        func message(_ label: Label) -> PAE {
            var pae = PAE(label, pieces: 2)
            pae.add(Digest.zero)
            pae.add(UInt32(1))
            return pae
        }
        var crossings = 0
        var derived: Set<[UInt8]> = []
        for label in Label.all {
            let signature = key.sign(message(label))
            let sealed = AEAD.seal([1, 2, 3], under: secret, associatedData: message(label).finish(), random: &random)
            derived.insert(Hash.derive(secret, message(label)).copyBytes())
            for other in Label.all {
                let isSame = label.bytes == other.bytes
                let verifies = (try? key.verificationKey.verify(signature, over: message(other))) != nil
                let opens = (try? AEAD.open(sealed, under: secret, associatedData: message(other).finish())) != nil
                #expect(verifies == isSame, "\(label.description) as \(other.description)")
                #expect(opens == isSame, "\(label.description) as \(other.description)")
                crossings += isSame ? 0 : 1
            }
        }
        #expect(derived.count == Label.all.count)
        #expect(crossings == Label.all.count * (Label.all.count - 1))

        // Through the SDK: Ann's own signature of something else, under a record.
        let world = try await AttackedZone()
        let (ann, network) = try world.ann.behindAttacker()
        _ = try await ann.own.record(for: world.note.recordID)
        let keys = ann.identity.keys
        let real = try #require(network.records.last)
        let entries = try await ann.container.core.trust.entries(scope: ann.view(of: world.zone).roster.scopeID)
        let binding = keys.signingKey.sign(
            Challenges.loginBinding(
                container: ann.container.containerIdentifier, loginKey: ann.account.session.publicKey))
        for signature in [entries[0].signature, binding, ann.identity.chain.signed[0].signature] {
            network.beHonest()
            network.show([
                .with {
                    $0 = real
                    $0.proof.signature = Data(signature)
                }
            ])
            await expectRefused(.integrityFailure, by: .invalidSignature) {
                _ = try await ann.own.record(for: world.note.recordID)
            }
        }
        network.beHonest()
        #expect(try await ann.body(of: world.note.recordID) == "from Ann")
    }
}
