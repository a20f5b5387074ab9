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

/// Attacks on keys: on whose they are, on how they come, and on what is done with them.
@Suite(.timeLimit(.minutes(60))) struct KeyAttacks {
    @Test(
        "A look-up is answered with a public key of the server's own: nothing that the server can open is sealed to it."
    )
    func attack01_serverAnswersWithItsOwnPublicKey() async throws {
        let (bob, mallory) = (try await Person(), try await Person())
        let (ann, network) = try await Person().behindAttacker()
        let mail = "bob-\(UUID().uuidString.prefix(8).lowercased())@example.org"
        try await bob.link(mail)
        // Keys that the server has the seeds of, in a chain that holds.
        let theirs = mallory.identity.chain.wire
        #expect(throws: Never.self) { try IdentityChain(theirs, container: ann.container.containerIdentifier) }
        let malloryID = try mallory.container.userRecordID()
        network.inject(.exchangedKeys(with: malloryID))
        let bobsID = try bob.container.userRecordID()
        await expectRefused(.integrityFailure, by: .invalidIdentity) {
            _ = try await ann.container.shareParticipant(forUserRecordID: bobsID)
        }
        // Bob's own statement with another grant key in it.
        var swapped = bob.identity.chain.wire
        var identity = bob.identity.chain.current
        identity.grantKey = mallory.identity.chain.current.grantKey
        swapped.identities[0].statement = Data(identity.canonicalBytes())
        let altered = swapped
        network.beHonest()
        network.rewrite("directory/lookup", Sealkit_V1_LookupIdentitiesResponse.self) { $0.results[0].chain = altered }
        await expectRefused(.integrityFailure, by: .invalidSignature) {
            _ = try await ann.container.shareParticipant(forUserRecordID: bobsID)
        }
        // An address certifies nothing, so Ann seals to the server's key: but inside to the URL's, which the server
        // never sees.
        network.beHonest()
        network.inject(.exchangedKeys(with: malloryID))
        let zone = try await ann.makeZone()
        var share = Share(recordZoneID: zone)
        let invited = try await ann.container.shareParticipant(forEmailAddress: mail)
        share.addParticipant(invited)
        share = try await ann.own.save(share)
        let append = try Sealkit_V1_AppendRosterRequest(
            serializedBytes: try #require(network.sent(to: "rosters/append").last))
        let grant = try #require(append.grants.last)
        let roster = try await ann.view(of: zone).roster
        let (epoch, id) = (roster.currentEpoch, try ID16(grant.subject))
        var random = SystemRandom()
        let guessed = try LinkSecret(random: &random).invitationKeys(scopeID: roster.scopeID, invitationID: id)
        let seed = mallory.identity.keys.grantSeed
        let url = try ShareURL(try #require(share.oneTimeURL(for: invited.participantID)))
        let keys = try url.secret.invitationKeys(scopeID: roster.scopeID, invitationID: id)
        #expect(throws: Never.self, "with the URL the server's key does open it") {
            try Grants<XWingHPKE>.open(
                [UInt8](grant.sealed), epoch: epoch, invitation: keys, keys: mallory.identity.keys)
        }
        expectRefused(.authenticationFailed) {
            _ = try Grants<XWingHPKE>.open(
                [UInt8](grant.sealed), epoch: epoch, invitation: guessed, keys: mallory.identity.keys)
        }
        expectRefused(.authenticationFailed) {
            _ = try Grants<XWingHPKE>.open(
                [UInt8](grant.sealed), epoch: epoch, as: mallory.userID, keys: mallory.identity.keys)
        }
        #expect(!network.everything.shows(url.secret.bytes.copyBytes()))
        #expect(!network.everything.shows(seed.copyBytes()))
        network.beHonest()
        #expect(try await ann.container.shareParticipant(forUserRecordID: bobsID).userIdentity.userRecordID == bobsID)
    }

    @Test("A zone key sealed to me that no valid entry commits to is refused, and nothing is ever encrypted with it.")
    func attack02_aZoneKeyThatNoEntryCommitsTo() async throws {
        let owner = try await Person()
        let zone = try await owner.makeZone()
        let note = try await owner.own.save(owner.note(in: zone, "honest"))
        let roster = try await owner.view(of: zone).roster
        // The server's key, bound to all that the roster says: HPKE asks nobody who seals.
        var random = SystemRandom()
        let chosen = SecretBytes(random: &random).copyBytes()
        let sealed = try Forgery.grant(chosen, for: roster.currentEpoch, to: owner.identity.chain)
        let info = Forgery.grantInfo(roster.currentEpoch.context, roster.currentEpoch.keyID, .member(owner.userID))
        #expect(try XWingHPKE.open(sealed, seed: owner.identity.keys.grantSeed, info: info) == chosen)
        expectRefused(.keyMismatch) {
            _ = try Grants<XWingHPKE>.open(
                sealed, epoch: roster.currentEpoch, as: owner.userID, keys: owner.identity.keys)
        }
        let (ann, network) = try owner.freshBehindAttacker()
        network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { answer in
            answer.rosters[0].grants = [Sealkit_V1_Grant(subject: .member(owner.userID), epoch: 0, sealed: sealed)]
        }
        await expectRefused(.permissionFailure) { try await ann.own.save(ann.note(in: zone, "not for the server")) }
        await expectRefused(.integrityFailure, by: .missingKey) { _ = try await ann.own.record(for: note.recordID) }
        #expect(network.sent(to: "records/modify").isEmpty)
        #expect(network.sent(to: "rosters/append").isEmpty)
        network.beHonest()
        let again = try ann.through(network)
        #expect(try await again.body(of: note.recordID) == "honest")
        try await again.own.save(again.note(in: zone, "with the real key"))
    }

    @Test(
        "One bit flipped anywhere in a wrapped key, a recovery bundle or a header: one error, and nothing is overwritten."
    )
    func attack03_oneBitFlipped() async throws {
        let world = try await AttackedZone()
        let (bob, view) = (world.bob, try await world.view(world.bob))
        let good = try await Forgery.record(by: bob, zone: world.joined, body: "good")
        let id = Record.ID(recordName: "forged", zoneID: world.zone)
        // In a statement that a writer signs, so that the unwrapping itself is asked.
        let wrapped = try Statement(canonicalBytes: [UInt8](good.statement)).wrappedKey
        var messages: Set<String> = []
        for index in stride(from: 0, to: wrapped.count, by: 5) {
            let forged = try Forgery.resign(good, by: bob.identity.keys.signingKey) {
                $0.wrappedKey[index] ^= 1 << UInt8(index % 8)
            }
            #expect(try Forgery.verifies(forged, view.roster))
            let (ann, network) = try world.ann.freshBehindAttacker()
            network.show([forged])
            let error = await expectRefused(.integrityFailure, by: .authenticationFailed) {
                _ = try await ann.own.record(for: id)
            }
            messages.insert(error?.description ?? "none")
        }
        #expect(messages.count == 1)

        // The bundle: every bit by the core, some through the SDK, whose one account it is.
        var random = SystemRandom()
        let key = RecoveryKey(random: &random)
        let bundle = key.seal([AccountSeed(random: &random)], random: &random)
        for index in bundle.indices {
            for bit in 0..<8 as Range<UInt8> {
                var altered = bundle
                altered[index] ^= 1 << bit
                #expect(throws: SealError.authenticationFailed) { try key.open(altered) }
            }
        }
        let network = try HostileNetwork(world.ann.server)
        let (account, recoveryKey) = try await Account.create(transport: network)
        for index in [0, 23, 24, 60] {
            network.beHonest()
            network.rewrite("accounts/recover", Sealkit_V1_RecoverResponse.self) {
                $0.sealed[$0.sealed.startIndex + index] ^= 4
            }
            await expectRefused(.integrityFailure, by: .authenticationFailed) {
                _ = try await Account.recover(recoveryKey, transport: network)
            }
        }
        network.beHonest()
        let recovered = try await Account.recover(recoveryKey, transport: network)
        #expect(SecretBytes.areEqual(recovered.seed.bytes, account.seed.bytes))

        // A key file's header, and its body: the file stays as it is.
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("key.json")
        try KeyFile.write(account, to: file, passphrase: "correct horse")
        var content = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        var box = try Base64URL.decode(try #require(content["seeds"] as? String))
        box[12] ^= 1
        content["seeds"] = Base64URL.encode(box)
        let altered = folder.url.appendingPathComponent("altered.json")
        let bytes = try JSONSerialization.data(withJSONObject: content)
        try bytes.write(to: altered)
        await expectRefused(.wrongPassphrase) {
            _ = try KeyFile(contentsOf: altered).open { () throws(SealKitError) in "correct horse" }
        }
        #expect(try Data(contentsOf: altered) == bytes)
        #expect(try KeyFile(contentsOf: file).open { () throws(SealKitError) in "correct horse" }.count == 1)
    }

    @Test("A failed unwrap causes no request, error text or log line that differs by the cause of the failure.")
    func attack04_allUnwrapFailuresLookAlike() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let world = try await AttackedZone(server: server)
        let (bob, view) = (world.bob, try await world.view(world.bob))
        let good = try await Forgery.record(by: bob, zone: world.joined, body: "good")
        let other = try await Forgery.record(by: bob, zone: world.joined, body: "other", name: "other")
        let foreign = try Statement(canonicalBytes: [UInt8](other.statement)).wrappedKey
        let causes: [(inout Statement) -> Void] = [
            { $0.wrappedKey[0] ^= 1 }, { $0.wrappedKey[30] ^= 1 }, { $0.wrappedKey[$0.wrappedKey.count - 1] ^= 1 },
            { $0.wrappedKey = foreign }, { $0.wrappedKey = [UInt8](repeating: 0, count: $0.wrappedKey.count) },
        ]
        var texts: Set<String> = []
        var requests: Set<[Data]> = []
        var logged: Set<[String]> = []
        let (ann, network) = try world.ann.behindAttacker()
        let id = Record.ID(recordName: "forged", zoneID: world.zone)
        _ = try await ann.own.record(for: world.note.recordID)
        for (index, cause) in causes.enumerated() {
            // Each a later one: what a member signed is remembered, whether or not it opens.
            let forged = try Forgery.resign(good, by: bob.identity.keys.signingKey) { statement in
                cause(&statement)
                guard index > 0 else { return }
                statement.revision += 2 * UInt64(index)
                statement.previous = Statement.hash([UInt8](good.statement))
            }
            #expect(try Forgery.verifies(forged, view.roster))
            network.beHonest()
            network.show([forged])
            network.forget()
            let lines = server.log.split(separator: "\n").count
            let error = await expectRefused(.integrityFailure, by: .authenticationFailed) {
                _ = try await ann.own.record(for: id)
            }
            texts.insert("\(try #require(error))")
            requests.insert(network.exchanges.map { Data($0.path.utf8) + $0.request })
            // A line is written after its answer; times and request numbers are each one's own.
            var fresh = server.log.split(separator: "\n").dropFirst(lines)
            for _ in 0..<100 where fresh.count < network.exchanges.count {
                try await Task.sleep(for: .milliseconds(50))
                fresh = server.log.split(separator: "\n").dropFirst(lines)
            }
            logged.insert(
                fresh.map { line in
                    line.split(separator: " ").dropFirst().filter {
                        !$0.hasPrefix("request=") && !$0.hasPrefix("milliseconds=")
                    }
                    .joined(separator: " ")
                })
        }
        #expect(texts.count == 1)
        #expect(requests.count == 1)
        #expect(logged.count == 1)
        network.beHonest()
        #expect(try await ann.body(of: world.note.recordID) == "from Ann")
    }
}
