import Foundation
import NIOCore
import SealClient
import SealCoding
import SealEnvelope
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Attacks with verification codes, tokens and addresses, and on what is shown and told.
@Suite(.timeLimit(.minutes(60))) struct CodeAttacks {
    @Test(
        "A code: single use, for one share, address and identity, limited an address and a client; all failures look alike."
    )
    func attack46_codesAndTheirFailures() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await LinkAttacks.Placeholder(server)
        let (carol, mallory) = (try await Person(server), try await Person(server))
        let verification = try await carol.container.beginVerification(of: place.mail, for: place.url)
        let code = try await carol.code(place.mail)
        let other = try await mallory.container.beginVerification(of: "mallory@example.org")
        let others = try await mallory.code("mallory@example.org")
        var texts: Set<String> = []
        // The right code of somebody else, for another address, under another number, and plain guesses.
        let attempts: [(Verification, String)] = [
            (verification.with(core: mallory.container.core), code), (other.with(core: carol.container.core), others),
            (other, code), (verification, others == code ? "x" : others), (verification, ""),
            (verification.with(id: [UInt8](repeating: 7, count: 16)), code),
        ]
        for (attempt, digits) in attempts {
            texts.insert(
                "\(try #require(await expectRefused(.verificationFailed) { _ = try await attempt.complete(code: digits) }))"
            )
        }
        let token = try await verification.complete(code: code)
        texts.insert(
            "\(try #require(await expectRefused(.verificationFailed, "the second time") { _ = try await verification.complete(code: code) }))"
        )
        #expect(texts.count == 1)
        // So many codes go to one address, whoever asks, and it is not said why.
        var sent = 0
        var refusal: SealKitError?
        while refusal == nil, sent < 20 {
            let asking = sent % 2 == 0 ? carol : mallory
            do {
                _ = try await asking.through(HTTPTransport(server: server.origin), pacing: FakePacing().pacing)
                    .container.beginVerification(of: "target@example.org")
                sent += 1
            } catch let error as SealKitError { refusal = error }
        }
        expectRefused(refusal, .requestRateLimited)
        #expect(sent == 3)
        let joined = try await carol.container.accept(
            try await carol.container.shareMetadata(for: place.url), token: token)
        #expect(try await carol.body(of: Record.ID(recordName: "note", zoneID: joined)) == "for the invited")
    }

    @Test("An invited and an unknown address cannot be told apart by answer or time.")
    func attack47_invitedAndUnknownAddressesLookAlike() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await LinkAttacks.Placeholder(server)
        let (mallory, network) = try await Person(server).behindAttacker()
        for address in [place.mail, "nobody-\(UUID().uuidString.prefix(8).lowercased())@example.org"] {
            network.forget()
            let begun = try await mallory.container.beginVerification(of: address, for: place.url)
            let answer = try #require(network.exchanges.last)
            let message = try Sealkit_V1_BeginVerificationResponse(serializedBytes: answer.response)
            #expect(answer.status == 200)
            #expect(message.verificationID.count == 16)
            #expect(message.expires > 0)
            // Without its two random or timely values nothing is left that could differ.
            let rest = Sealkit_V1_BeginVerificationResponse.with {
                $0 = message
                $0.verificationID = Data()
                $0.expires = 0
            }
            #expect(try rest.serializedData().isEmpty)
            // And a mail goes out to either, as a guess at its code fails for either.
            #expect(try await mallory.code(address).count == 8)
            await expectRefused(.verificationFailed) { _ = try await begun.complete(code: "no code") }
            #expect(
                await failure { _ = try await mallory.container.shareMetadata(for: place.url) }
                    == .participantMayNeedVerification)
        }
        // Nor by time: the server does the very same work for either, which CodeLimitsTests counts. A clock here would
        // measure what else the machine does.
        // The share itself tells a stranger with its routing id as much as any other would.
        let stranger = try await Person(server)
        for url in [place.url, place.shareWide] {
            let routing = try ShareURL(url).routingID
            await expectRefused(.participantMayNeedVerification) {
                let _: Sealkit_V1_ShareMetadataResponse = try await stranger.container.core.call(
                    Endpoints.sharing.metadata,
                    Sealkit_V1_ShareMetadataRequest.with { $0.routingID = Data(routing.bytes) })
            }
        }
    }

    @Test("Two spellings of an address are neither two participants nor the wrong one; look-alikes are refused.")
    func attack48_spellingsOfAnAddress() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let (ann, bob) = (try await Person(server), try await Person(server))
        try await bob.link("Bob.Smith@Example.ORG")
        var share = Share(recordZoneID: try await ann.makeZone())
        for spelling in ["bob.smith@example.org", "BOB.SMITH@EXAMPLE.ORG", "Bob.Smith@example.org"] {
            let found = try await ann.container.shareParticipant(forEmailAddress: spelling)
            #expect(found.userIdentity.userRecordID?.recordName == bob.name)
            share.addParticipant(found)
        }
        share = try await ann.own.save(share)
        #expect(share.participants.count == 2)
        for spelling in ["New.One@Example.org", "new.one@example.org"] {
            share.addParticipant(try await ann.container.shareParticipant(forEmailAddress: spelling))
        }
        share = try await ann.own.save(share)
        #expect(share.participants.count == 3, "one seat for one mailbox")
        share.addParticipant(try await ann.container.shareParticipant(forEmailAddress: "NEW.ONE@example.org"))
        share = try await ann.own.save(share)
        #expect(share.participants.count == 3)
        // Another mailbox is another person; what only looks like one is no address.
        #expect(
            try await !ann.container.shareParticipant(forEmailAddress: "bobsmith@example.org").userIdentity.hasAccount)
        for lookAlike in [
            "b\u{043E}b.smith@example.org", "bob.smith@ex\u{0430}mple.org", "bob.smith@example.org\u{200B}",
            "\u{212A}bob@example.org",
            "bob.smith@example.org ", "bob.smith@@example.org", "bob..smith@example.org", "+49 30 123456",
            "+49-30-123456", "0049301234567",
        ] {
            await expectRefused(.invalidArguments) {
                _ = try await ann.container.shareParticipant(forEmailAddress: lookAlike)
            }
        }
        let bobs = try #require(share.participants.first { $0.userIdentity.userRecordID?.recordName == bob.name })
        let url = try #require(share.oneTimeURL(for: bobs.participantID))
        _ = try await bob.container.accept(try await bob.container.shareMetadata(for: url))
        #expect(
            try await ann.own.share(for: share.zoneID).participants.map(\.acceptanceStatus) == [
                .accepted, .accepted, .pending,
            ])
    }

    @Test(
        "A token for one share is refused at another, as a session, for another identity, after its time, and the second time."
    )
    func attack50_aTokenUsedElsewhere() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let ann = try await Person(server)
        let (here, there) = (
            try await LinkAttacks.Placeholder(server, ann: ann), try await LinkAttacks.Placeholder(server, ann: ann)
        )
        let (carol, mallory) = (try await Person(server), try await Person(server))
        let roster = try await here.roster()
        let url = try ShareURL(here.url)
        let keys = try url.secret.invitationKeys(scopeID: roster.scopeID, invitationID: here.seat)
        // Mallory has the URL and the token, read off Carol's screen, and the server has not linked the address to her.
        let verification = try await carol.container.beginVerification(of: here.mail, for: here.url)
        let token = try await verification.complete(code: try await carol.code(here.mail))
        let stolen = LinkAttacks.acceptance(of: here.seat, by: mallory, on: roster, signedBy: keys.signingKey)
        await expectRefused(.verificationFailed) {
            try await LinkAttacks.send(stolen, by: mallory, to: url.routingID, token: token.text)
        }
        let other = try ShareURL(there.url)
        let foreign = try await there.roster()
        let elsewhere = LinkAttacks.acceptance(
            of: there.seat, by: carol, on: foreign,
            signedBy: try other.secret.invitationKeys(scopeID: foreign.scopeID, invitationID: there.seat).signingKey)
        await expectRefused(.verificationFailed) {
            try await LinkAttacks.send(elsewhere, by: carol, to: other.routingID, token: token.text)
        }
        let response = try await HTTPTransport(server: server.origin).get("/1/accounts/me", token: token.text)
        #expect(response.status == 401)
        expectRefused(response.failure, .sessionExpired)
        // One of the server's own making that was good until a moment ago: made with its key, from its folder.
        let late = try expired(token.text, server: server)
        let genuine = LinkAttacks.acceptance(of: here.seat, by: mallory, on: roster, signedBy: keys.signingKey)
        let good = try expired(token.text, server: server, as: mallory.name, by: 0)
        await expectRefused(.verificationFailed) {
            try await LinkAttacks.send(genuine, by: mallory, to: url.routingID, token: late)
        }
        try await LinkAttacks.send(genuine, by: mallory, to: url.routingID, token: good)
        #expect(
            try await here.roster().members[mallory.userID] != nil, "with its time not over, that very token counts")
        await expectRefused(.unknownItem, "the second time") {
            try await LinkAttacks.send(stolen, by: carol, to: url.routingID, token: good)
        }
    }

    /// A token like this one, of another identity, whose time is over by as much, signed with the server's key.
    private func expired(_ token: String, server: ServerProcess, as name: String? = nil, by seconds: Double = 1) throws
        -> String
    {
        let file = server.folder.appendingPathComponent("data.secrets/token-keys/000001.key")
        let key = try SigningKey(seed: SecretBytes(copying: try Data(contentsOf: file)))
        let footer = try PasetoPublic.unverifiedFooter(token)
        let message = try PasetoPublic.verify(token, footer: footer, key: key.verificationKey)
        var claims = try #require(JSONSerialization.jsonObject(with: Data(message)) as? [String: String])
        if let name { claims["sub"] = name }
        claims["jti"] = UUID().uuidString
        if seconds > 0 {
            claims["iat"] = Date(timeIntervalSinceNow: -1_000).formatted(.iso8601)
            claims["nbf"] = claims["iat"]
            claims["exp"] = Date(timeIntervalSinceNow: -seconds).formatted(.iso8601)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return PasetoPublic.sign([UInt8](try encoder.encode(claims)), footer: footer, key: key)
    }

    @Test("Names and titles that an attacker chose appear escaped, and as unverified, wherever they are shown.")
    func attack52_chosenNamesAndTitles() async throws {
        let (mallory, bob) = (try await Person(), try await Person())
        let folder = try TemporaryFolder()
        let keyFile = folder.url.appendingPathComponent("bob.json")
        try KeyFile.write(bob.account, to: keyFile, passphrase: nil)
        let title = "Plans\u{1B}[2J\u{1B}[31m\r\n  owner       your bank\u{202E}dab\u{2066}\u{0007}\u{009B}1m\u{200B}"
        let zone = try await mallory.makeZone("zone\"; rm -rf")
        let share = try await mallory.share(zone, [(bob, .readOnly)], title: title)
        let url = try #require(share.url)
        #expect(try await bob.container.shareMetadata(for: url).title == title, "as data it is what it is")
        func run(_ arguments: [String]) async throws -> Command {
            let said = try await Command.finished(
                ServerProcess.executable, arguments + ["--container", mallory.container.containerIdentifier],
                environment: ["SEALKIT_KEY_FILE": keyFile.path])
            #expect(said.status == 0, "\(said.errors)")
            return said
        }
        for arguments in [
            ["share", "preview", url], ["share", "accept", url], ["share", "preview", url, "--json"], ["zone", "list"],
        ] {
            let said = try await run(arguments)
            let shown = said.output + said.errors
            #expect(
                shown.unicodeScalars.allSatisfy {
                    $0 == "\n"
                        || !(($0.properties.generalCategory == .control) || $0.properties.generalCategory == .format)
                })
            // No line of its own: a forged "owner" stands within quotes, behind what it is the title of.
            #expect(!shown.split(separator: "\n").contains { $0.hasPrefix("  owner       your bank") })
        }
        let said = try await run(["share", "preview", url])
        #expect(said.output.contains("\\u{1b}[2J"))
        #expect(said.output.contains("\\r\\n"))
        #expect(said.output.contains("\\u{202e}"))
        // Next to it the name that is certified: the owner's, in full.
        #expect(said.output.contains("  owner       \(mallory.name)"))
        // A share's page in a browser shows nothing of it.
        let routing = Base64URL.encode(try ShareURL(url).routingID.bytes)
        let page = try await HTTPTransport(server: bob.server.origin).get("/s/\(routing)", token: nil)
        #expect(String(decoding: page.body, as: UTF8.self).contains("<!DOCTYPE html>"))
        #expect(!page.body.shows(Array("Plans".utf8)))
        AttackOutcome.held(
            "shown with every control, format and direction character escaped, beside the certified owner")
    }
}
