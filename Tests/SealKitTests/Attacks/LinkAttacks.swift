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

/// Attacks on share URLs, and on joining by them.
@Suite(.timeLimit(.minutes(60))) struct LinkAttacks {
    /// Somebody who is invited by an address that no account has proven.
    struct Placeholder {
        let ann: Person
        let zone: RecordZone.ID
        let note: Record
        let mail: String
        /// The one-time URL, and the share-wide one.
        let url: String
        let shareWide: String
        let seat: ID16

        init(_ server: ServerProcess, ann given: Person? = nil) async throws {
            let person = if let given { given } else { try await Person(server) }
            ann = person
            zone = try await person.makeZone()
            note = try await person.own.save(person.note(in: zone, "for the invited", name: "note"))
            mail = "carol-\(UUID().uuidString.prefix(8).lowercased())@example.org"
            var share = Share(recordZoneID: zone)
            share.title = "Garden plans"
            let participant = try await person.container.shareParticipant(forEmailAddress: mail, permission: .readWrite)
            share.addParticipant(participant)
            share = try await person.own.save(share)
            url = try #require(share.oneTimeURL(for: participant.participantID))
            shareWide = try #require(share.url)
            seat = try ID16(Hex.decode(participant.participantID))
        }

        func roster() async throws -> Roster { try await ann.keeper(of: zone).refresh().roster }

        /// A token for the seat: what control of the mailbox gives.
        func token(_ person: Person) async throws -> VerificationToken {
            let verification = try await person.container.beginVerification(of: mail, for: url)
            return try await verification.complete(code: try await person.code(mail))
        }

        func accept(_ person: Person) async throws -> RecordZone.ID {
            let token = try await token(person)
            return try await person.container.accept(try await person.container.shareMetadata(for: url), token: token)
        }
    }

    /// Whatever a stranger holds of the seat, an acceptance by it, made by hand.
    static func acceptance(
        of seat: ID16, by person: Person, on roster: Roster, signedBy key: SigningKey, acceptor: IdentityChain? = nil,
        over scope: Digest? = nil
    ) -> SignedRosterEntry {
        let chain = acceptor ?? person.identity.chain
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: scope ?? roster.scopeID, invitationID: seat, acceptor: chain, head: roster.head)
        return Forgery.entry(
            by: person, on: roster, [.accept(.init(invitationID: seat, acceptor: chain, signature: key.sign(message)))])
    }

    static func send(
        _ entry: SignedRosterEntry, by person: Person, to routing: ID16, epoch: UInt32 = 0, token: String = ""
    ) async throws {
        let request = Sealkit_V1_AcceptShareRequest.with {
            $0.operationID = newOperationID()
            $0.routingID = Data(routing.bytes)
            $0.entry = entry.wire
            $0.token = token
            $0.grant = Sealkit_V1_Grant(subject: .member(person.userID), epoch: epoch, sealed: [1, 2, 3])
        }
        let _: Sealkit_V1_AcceptShareResponse = try await person.container.core.call(Endpoints.sharing.accept, request)
    }

    @Test("No request, header, redirect, log line or mail holds a byte of the link secret.")
    func attack38_theLinkSecretLeavesNoDevice() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let (ann, network) = try await Person(server).behindAttacker()
        let place = try await Placeholder(server, ann: ann)
        let (carol, hers) = try await Person(server).behindAttacker()
        _ = try await place.accept(carol)
        let urls = try [place.url, place.shareWide].map { try ShareURL($0) }
        let page = try await HTTPTransport(server: server.origin).get(
            "/s/\(Base64URL.encode(urls[0].routingID.bytes))", token: nil)
        #expect(page.status == 200)
        let heard = network.everything + hers.everything + page.body + server.everything
        // The ear is good: what may be heard is.
        #expect(heard.shows(urls[0].routingID.bytes))
        #expect(heard.range(of: Data(place.mail.utf8)) != nil)
        for url in urls {
            let secret = url.secret.bytes.copyBytes()
            for part in [secret, Array(secret.prefix(16)), Array(secret.suffix(16)), Array(secret[8..<24])] {
                #expect(!heard.shows(part))
            }
            #expect(heard.range(of: Data(url.text().split(separator: "#")[1].utf8)) == nil)
            #expect(!"\(url)".contains("#"))
        }
        AttackOutcome.held("not in \(heard.count / 1024) KiB of traffic, files, logs and mail")
    }

    @Test("What the server stores for a share derives nothing.")
    func attack39_whatIsStoredDerivesNothing() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let (ann, network) = try await Person(server).behindAttacker()
        let place = try await Placeholder(server, ann: ann)
        _ = try await ann.own.share(for: place.zone)
        let append = try Sealkit_V1_AppendRosterRequest(
            serializedBytes: try #require(network.sent(to: "rosters/append").last))
        let scopeID = try await place.roster().scopeID
        let secrets = try [place.url, place.shareWide].map { try ShareURL($0).secret }
        #expect(append.links.count == 2)
        for link in append.links {
            let preview = [UInt8](link.preview)
            #expect(
                secrets.contains { (try? $0.openPreview(preview, scopeID: scopeID))?.preview.title == "Garden plans" })
            // Any 32 bytes of it all as the secret; and the kept copy under any key that is not the owner's.
            let stored =
                [UInt8](link.keptSecret) + preview + [UInt8](link.routingID) + [UInt8](append.entry.entry)
                + scopeID.bytes
            for start in 0...(stored.count - 32) {
                let guess = try LinkSecret(SecretBytes(copying: stored[start..<start + 32]))
                #expect((try? guess.openPreview(preview, scopeID: scopeID)) == nil)
            }
            let context = scopeID.bytes + [UInt8](link.routingID)
            let own = try StorageBox.open(
                [UInt8](link.keptSecret), purpose: ShareLinks.purpose, context: context,
                under: ann.account.seed.storageKey())
            #expect(secrets.contains { SecretBytes.areEqual($0.bytes, own) })
            let stranger = try await Person(server).account.seed.storageKey()
            expectRefused(.authenticationFailed) {
                _ = try StorageBox.open(
                    [UInt8](link.keptSecret), purpose: ShareLinks.purpose, context: context, under: stranger)
            }
        }
    }

    @Test("A server that reads all mail cannot join an invite-only share.")
    func attack40_aServerThatReadsAllMail() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await Placeholder(server)
        // The code comes out of the mailbox, and the token is good for the seat.
        let mallory = try await Person(server)
        let token = try await place.token(mallory)
        let routing = try ShareURL(place.url).routingID
        let metadata: Sealkit_V1_ShareMetadataResponse = try await mallory.container.core.call(
            Endpoints.sharing.metadata, Sealkit_V1_ShareMetadataRequest.with { $0.routingID = Data(routing.bytes) })
        #expect(try ID16(metadata.invitationID) == place.seat && !metadata.grant.sealed.isEmpty)
        // With the URL's secret that would be all: without it the grant does not open, and nobody believes the
        // acceptance.
        let roster = try await place.roster()
        let real = try ShareURL(place.url).secret.invitationKeys(scopeID: roster.scopeID, invitationID: place.seat)
        #expect(throws: Never.self) {
            try Grants<XWingHPKE>.open(
                [UInt8](metadata.grant.sealed), epoch: roster.currentEpoch, invitation: real, keys: nil)
        }
        var random = SystemRandom()
        let guessed = try LinkSecret(random: &random).invitationKeys(scopeID: roster.scopeID, invitationID: place.seat)
        expectRefused(.authenticationFailed) {
            _ = try Grants<XWingHPKE>.open(
                [UInt8](metadata.grant.sealed), epoch: roster.currentEpoch, invitation: guessed, keys: nil)
        }
        let forged = Self.acceptance(of: place.seat, by: mallory, on: roster, signedBy: guessed.signingKey)
        var copy = roster
        #expect(throws: Never.self) {
            try copy.append(Self.acceptance(of: place.seat, by: mallory, on: roster, signedBy: real.signingKey))
        }
        await expectRefused(.integrityFailure) {
            try await Self.send(forged, by: mallory, to: routing, token: token.text)
        }
        let (ann, network) = try place.ann.behindAttacker()
        network.serve([forged])
        await expectRefused(.integrityFailure, by: .invalidSignature) { _ = try await ann.own.share(for: place.zone) }
        network.beHonest()
        #expect(try await ann.own.share(for: place.zone).participants.map(\.acceptanceStatus) == [.accepted, .pending])
    }

    @Test("Another share behind the same URL is refused: the secret part commits to owner and scope too.")
    func attack41_anotherShareBehindTheURL() async throws {
        let world = try await AttackedZone()
        let dave = try await Person()
        let mallory = try await Person()
        let zone = try await mallory.makeZone()
        // Another zone of the same owner, and one of somebody else: Dave is invited to all three.
        let own = try await world.ann.share(
            try await world.ann.makeZone(), [(dave, .readOnly)], title: "Another of Ann's")
        let foreign = try await mallory.share(zone, [(dave, .readOnly)], title: "Mallory's")
        var share = try await world.ann.own.share(for: world.zone)
        share.addParticipant(
            try await world.ann.container.shareParticipant(forUserRecordID: dave.container.userRecordID()))
        share = try await world.ann.own.save(share)
        let url = try #require(share.url)
        for other in [own, foreign] {
            let (victim, network) = try dave.behindAttacker()
            #expect(
                try await dave.container.shareMetadata(for: try #require(other.url)).title == other.title,
                "good under its own URL")
            network.inject(.exchangedShare(with: try #require(other.url)))
            await expectRefused(.invalidArguments) { _ = try await victim.container.shareMetadata(for: url) }
            #expect(network.sent(to: "share/accept").isEmpty)
            network.beHonest()
            #expect(try await victim.container.shareMetadata(for: url).title == "Garden plans")
        }
    }

    @Test("An acceptance moved to another share, invitation or identity is refused by everyone.")
    func attack42_anAcceptanceMovedElsewhere() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let (place, other) = (try await Placeholder(server), try await Placeholder(server))
        let (carol, mallory) = (try await Person(server), try await Person(server))
        let (roster, there) = (try await place.roster(), try await other.roster())
        let url = try ShareURL(place.url)
        let keys = try url.secret.invitationKeys(scopeID: roster.scopeID, invitationID: place.seat)
        let genuine = Self.acceptance(of: place.seat, by: carol, on: roster, signedBy: keys.signingKey)
        guard
            case .accept(let accepted) = try RosterEntry(
                canonicalBytes: genuine.bytes, container: roster.scope.container
            ).changes[0]
        else { throw SealError.malformed }
        var copy = roster
        #expect(throws: Never.self) { try copy.append(genuine) }
        func moved(_ seat: ID16, acceptor: Person, by author: Person, on roster: Roster) -> SignedRosterEntry {
            Forgery.entry(
                by: author, on: roster,
                [.accept(.init(invitationID: seat, acceptor: acceptor.identity.chain, signature: accepted.signature))])
        }
        let moves: [(SignedRosterEntry, Roster, Placeholder, SealError)] = [
            (moved(other.seat, acceptor: carol, by: carol, on: there), there, other, .invalidSignature),
            (moved(place.seat, acceptor: carol, by: carol, on: there), there, other, .changeNotApplicable),
            (moved(other.seat, acceptor: carol, by: carol, on: roster), roster, place, .changeNotApplicable),
            (moved(place.seat, acceptor: mallory, by: mallory, on: roster), roster, place, .invalidSignature),
            (moved(place.seat, acceptor: carol, by: mallory, on: roster), roster, place, .changeNotPermitted),
        ]
        for (entry, base, target, check) in moves {
            var roster = base
            expectRefused(check) { try roster.append(entry) }
            let (owner, network) = try target.ann.behindAttacker()
            network.serve([entry])
            await expectRefused(.integrityFailure, by: check) { _ = try await owner.own.share(for: target.zone) }
            let routing = try ShareURL(target.url).routingID
            let code = await failure { try await Self.send(entry, by: mallory, to: routing) }
            #expect(code != nil, "the server takes it as little")
        }
        let joined = try await place.accept(carol)
        #expect(try await carol.body(of: Record.ID(recordName: "note", zoneID: joined)) == "for the invited")
    }
}
