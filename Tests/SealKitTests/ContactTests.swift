import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Whose keys a device knows, and what it makes of others.
@Suite(.timeLimit(.minutes(60))) struct ContactTests {
    private let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    private func contact(_ other: Person, of person: Person) async throws -> Contact {
        try await person.container.contacts.contact(for: other.container.userRecordID())
    }

    /// The same person on a device that starts again with what it has verified.
    private func restarted(_ person: Person) throws -> Person {
        try person.through(HTTPTransport(server: person.server.origin))
    }

    // MARK: First use

    @Test func bothSidesOfAShareSeeOneSafetyNumber() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let nobody = try await ann.container.contacts.all()
        #expect(nobody.isEmpty)
        #expect(await failure { _ = try await self.contact(bob, of: ann) } == .unknownItem)
        #expect(
            await failure { _ = try await ann.container.contacts.contact(for: Record.ID(recordName: "x")) }
                == .invalidArguments)
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        try await zone.view(of: ann)
        let (bobs, anns) = (try await contact(bob, of: ann), try await contact(ann, of: bob))
        #expect(bobs.safetyNumber == anns.safetyNumber)
        #expect(bobs.safetyNumber.count == 12)
        #expect(bobs.safetyNumber.allSatisfy { $0.count == 5 && $0.allSatisfy(\.isNumber) })
        #expect(!bobs.isVerified)
        #expect(bobs.keysChanged == nil)
        #expect(bobs.conflict == nil)
        #expect(bobs.generation == 0)
        let names = try await ann.container.contacts.all().map(\.userRecordID.recordName)
        #expect(names == [bob.name])

        // As typed, in whatever groups.
        let digits = anns.safetyNumber.joined()
        #expect(bobs.matches(digits))
        #expect(bobs.matches(anns.safetyNumber.joined(separator: " ")))
        #expect(bobs.matches("\(digits)\n"))
        #expect(!bobs.matches(""))
        #expect(!bobs.matches(String(digits.dropLast())))
        #expect(!bobs.matches(String(digits.reversed())))
        var verified = try await ann.container.contacts.verify(bobs)
        #expect(verified.isVerified)
        verified = try await self.contact(bob, of: try restarted(ann))
        #expect(verified.isVerified)
        let unverified = try await ann.container.contacts.unverify(verified)
        #expect(!unverified.isVerified)
        // Another container is another world.
        let other = try Container("org.example.other", account: ann.account, trust: ann.container.core.trust)
        let none = try await other.contacts.all()
        #expect(none.isEmpty)
    }

    // MARK: New generations

    @Test func newKeysWithAValidChainAreReportedAndClearVerified() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        try await zone.view(of: ann)
        let before = try await ann.container.contacts.verify(try await contact(bob, of: ann))
        let chain = try await zone.changeKeys(of: bob)
        // Whatever reads the roster next hears of it; nothing fails.
        try await ann.own.save(ann.note(in: zone.zoneID, "for the new keys"))
        let after = try await contact(bob, of: ann)
        #expect(after.generation == 1)
        #expect(!after.isVerified)
        #expect(after.keysChanged != nil)
        #expect(after.conflict == nil)
        #expect(after.safetyNumber != before.safetyNumber)
        #expect(after.safetyNumber == SafetyNumber.groups(of: ann.container.core.identity().chain, chain))
        let reported = try await ann.container.contacts.needingAttention().map(\.userRecordID.recordName)
        #expect(reported == [bob.name])
        // The number that was compared is of the keys before.
        #expect(await failure { try await ann.container.contacts.verify(before) } == .serverRecordChanged)
        #expect(await failure { try await ann.container.contacts.accept(before) } == .serverRecordChanged)
        let taken = try await ann.container.contacts.accept(after)
        #expect(taken.keysChanged == nil)
        #expect(!taken.isVerified)
        #expect(taken.generation == 1)
        let verified = try await ann.container.contacts.verify(taken)
        #expect(verified.isVerified)
        let violations = try await ann.container.violations()
        #expect(violations.isEmpty)
    }

    /// Two people compare their numbers as soon as one of them has new keys, and before anything else has told the
    /// other.
    @Test func aNumberIsComparedUnderTheNewestKeys() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        try await zone.view(of: ann)
        try await bob.rotateKeys(KeptKeys(bob))
        #expect(try await contact(bob, of: ann).generation == 0)
        let asked = try await ann.container.contacts.refreshedContact(for: bob.container.userRecordID())
        #expect(asked.generation == 1)
        #expect(asked.keysChanged != nil)
        #expect(asked.safetyNumber == (try await contact(ann, of: bob)).safetyNumber)
        // Somebody whom the server does not know any more is known as before.
        try await bob.account.delete(trust: bob.container.core.trust)
        let gone = try await ann.container.contacts.refreshedContact(for: bob.container.userRecordID())
        #expect(gone.safetyNumber == asked.safetyNumber)
        let nobody = Record.ID(recordName: "_" + String(repeating: "0", count: 32))
        #expect(await failure { _ = try await ann.container.contacts.refreshedContact(for: nobody) } == .unknownItem)
    }

    // MARK: Other keys

    @Test func otherKeysAreRefusedUntilTheUserAcceptsThem() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        let other = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        try await zone.changeKeys(of: bob)
        try await zone.view(of: ann)
        // Whoever had Bob's first key has made other second ones, which his own device does not know.
        let forged = try await other.changeKeys(of: bob)
        let error = await #expect(throws: SealKitError.self) { try await other.view(of: ann) }
        #expect(error?.code == .integrityFailure)
        #expect(error?.reason.contains(bob.name) == true)
        #expect(await failure { try await ann.own.save(ann.note(in: other.zoneID, "for whom?")) } == .integrityFailure)
        // Without what it has seen before, a device could not tell.
        let fresh = try await other.view(of: try ann.onFreshDevice())
        #expect(fresh.roster.members[forged.userID]?.identity == forged)
        // Elsewhere nothing has changed.
        try await ann.own.save(ann.note(in: zone.zoneID, "as before"))

        let contact = try await contact(bob, of: ann)
        #expect(contact.conflict?.safetyNumber == SafetyNumber.groups(of: ann.container.core.identity().chain, forged))
        #expect(contact.needsAttention)
        #expect(contact.safetyNumber != contact.conflict?.safetyNumber)
        #expect(await failure { try await ann.container.contacts.verify(contact) } == .integrityFailure)
        #expect(await failure { try await ann.container.contacts.unverify(contact) } == .integrityFailure)
        let kept = try await ann.container.violations()
        #expect(kept.first?.code == .integrityFailure)
        #expect(kept.first?.zoneID == other.zoneID)
        #expect(kept.first?.reason.contains(bob.name) == true)
        // The same on the next start.
        let again = try restarted(ann)
        #expect(await failure { try await other.view(of: again) } == .integrityFailure)

        let accepted = try await ann.container.contacts.accept(contact)
        #expect(accepted.conflict == nil)
        #expect(accepted.safetyNumber == contact.conflict?.safetyNumber)
        #expect(!accepted.isVerified)
        try await ann.own.save(ann.note(in: other.zoneID, "for Bob"))
        // What was verified with the keys before stays what it was.
        _ = try await zone.view(of: try restarted(ann))
    }

    /// Yet other keys come between looking and accepting: nobody accepts what was not looked at.
    @Test func onlyTheOtherKeysThatWereLookedAtAreAccepted() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        var zones: [SharedZone] = []
        for _ in 0..<3 { zones.append(try await SharedZone(of: ann, with: [(bob, .readWrite)])) }
        try await zones[0].changeKeys(of: bob)
        try await zones[0].view(of: ann)
        try await zones[1].changeKeys(of: bob)
        #expect(await failure { try await zones[1].view(of: ann) } == .integrityFailure)
        let looked = try await contact(bob, of: ann)
        let forged = try await zones[2].changeKeys(of: bob)
        #expect(await failure { try await zones[2].view(of: ann) } == .integrityFailure)
        #expect(await failure { try await ann.container.contacts.accept(looked) } == .serverRecordChanged)
        let now = try await contact(bob, of: ann)
        #expect(now.safetyNumber == looked.safetyNumber)
        #expect(now.conflict?.safetyNumber != looked.conflict?.safetyNumber)
        #expect(now.conflict?.safetyNumber == SafetyNumber.groups(of: ann.container.core.identity().chain, forged))
        let accepted = try await ann.container.contacts.accept(now)
        #expect(accepted.conflict == nil)
        #expect(accepted.safetyNumber == now.conflict?.safetyNumber)
    }

    @Test func aDirectoryThatAnswersWithOtherOrReplacedKeysIsRefused() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        _ = try await ann.container.shareParticipant(forUserRecordID: bob.container.userRecordID())
        // Signed with Bob's own key, so that it certifies his name: all that the name alone can tell holds.
        let forged = try bob.container.core.identity().keys.firstIdentity(time: 99)
        #expect(forged.userID == bob.container.core.userID())
        let rewrite: RewritingTransport.Rewrite = { path, body in
            guard path.hasSuffix("directory/lookup") else { return body }
            var answer = try Sealkit_V1_LookupIdentitiesResponse(serializedBytes: body)
            answer.results[0].chain = forged.wire
            return try answer.serializedData()
        }
        let deceived = try ann.through(RewritingTransport(HTTPTransport(server: ann.server.origin), rewrite))
        #expect(
            await failure {
                _ = try await deceived.container.shareParticipant(forUserRecordID: bob.container.userRecordID())
            } == .integrityFailure)
        let kept = try await ann.container.violations()
        #expect(kept.count == 1)
        let blind = try ann.onFreshDevice(
            transport: RewritingTransport(HTTPTransport(server: ann.server.origin), rewrite))
        let believed = try await blind.container.shareParticipant(forUserRecordID: bob.container.userRecordID())
        #expect(believed.chain == forged)

        // Keys that have been replaced since: nothing more is sealed to them.
        let (carol, dave) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: carol, with: [(dave, .readWrite)])
        try await zone.changeKeys(of: dave)
        try await zone.view(of: carol)
        #expect(
            await failure {
                _ = try await carol.container.shareParticipant(forUserRecordID: dave.container.userRecordID())
            } == .rollback)
    }

    @Test func anAuthorInThePublicDatabaseIsHeldAgainstTheContactToo() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        var note = Record(recordType: "Announcement", recordID: Record.ID(recordName: "a-\(UUID().uuidString)"))
        note["text"] = "from Bob"
        try await bob.container.publicDatabase.save(note)
        _ = try await ann.container.publicDatabase.record(for: note.recordID)
        let forged = try bob.container.core.identity().keys.firstIdentity(time: 99)
        let rewrite: RewritingTransport.Rewrite = { path, body in
            guard path.hasSuffix("public/records/lookup") else { return body }
            var answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: body)
            answer.authors = [forged.wire]
            return try answer.serializedData()
        }
        let deceived = try ann.through(RewritingTransport(HTTPTransport(server: ann.server.origin), rewrite))
        #expect(
            await failure { _ = try await deceived.container.publicDatabase.record(for: note.recordID) }
                == .integrityFailure)
        let blind = try ann.onFreshDevice(
            transport: RewritingTransport(HTTPTransport(server: ann.server.origin), rewrite))
        let believed = try await blind.container.publicDatabase.record(for: note.recordID)
        #expect(believed["text"] == "from Bob")
    }

    @Test func whoeverIsBehindAShareURLIsHeldAgainstTheContact() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [])
        var share = try await ann.own.share(for: zone.zoneID)
        share.addParticipant(try await ann.container.shareParticipant(forUserRecordID: bob.container.userRecordID()))
        try await ann.own.save(share)
        // Bob knows Ann by other keys than the roster shows.
        let known = try ann.container.core.identity().keys.firstIdentity(time: 99)
        try await bob.container.core.contacts.observe([known])
        #expect(await failure { _ = try await bob.container.shareMetadata(for: zone.url) } == .integrityFailure)
        #expect(try await contact(ann, of: bob).conflict != nil)
        try await bob.container.contacts.accept(try await contact(ann, of: bob))
        try await zone.join(bob)
    }

    // MARK: The store

    @Test func twoProcessesAtOnceKnowOnePersonByOneKey() async throws {
        let file = temporary.url.appendingPathComponent("trust")
        let (ann, bob) = (try await Person(), try await Person())
        let (own, name) = (ann.container.core.userID(), bob.container.core.userID())
        let chains = try (0..<8).map { try bob.container.core.identity().keys.firstIdentity(time: Int64($0)) }
        let books = try chains.map { _ in
            ContactBook(trust: try TrustStore(file: file), container: chains[0].current.container, own: own)
        }
        var refused = 0
        await withTaskGroup(of: SealKitError.Code?.self) { group in
            for (book, chain) in zip(books, chains) {
                group.addTask { await failure { try await book.observe([chain]) } }
            }
            for await code in group where code == .integrityFailure { refused += 1 }
        }
        #expect(refused == 7)
        let row = try await books[0].trust.contact(name, container: chains[0].current.container)
        let isOneOfThem = try chains.contains { try ContactBook.data($0) == row?.chain }
        #expect(isOneOfThem)
    }

    // MARK: The command line

    @Test func theCommandLineComparesNumbers() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        _ = try await SharedZone(of: ann, with: [(bob, .readOnly)])
        let file = temporary.url.appendingPathComponent("bob.json")
        try KeyFile.write(bob.account, to: file, passphrase: nil)
        func run(_ arguments: String...) async throws -> Command {
            try await Command.finished(
                ServerProcess.executable,
                arguments + ["--key-file", file.path, "--container", bob.container.containerIdentifier])
        }
        #expect(try await run("contact", "list").output == "")
        #expect(try await run("contact", "show", "_" + String(repeating: "0", count: 32)).status == 66)
        _ = try await run("zone", "list")
        #expect(try await run("contact", "list", "--quiet").output == "\(ann.name)\n")
        let number = try await contact(bob, of: ann).safetyNumber
        #expect(try await run("contact", "show", ann.name, "--quiet").output == number.joined(separator: " ") + "\n")
        let shown = try await run("contact", "show", ann.name).output
        #expect(shown.contains("not compared"))
        #expect(shown.contains(number[0..<4].joined(separator: " ")))
        let wrong = try await run("contact", "verify", ann.name, String(repeating: "1", count: 60))
        #expect(wrong.status == 76)
        #expect(wrong.errors.contains("not the safety number"))
        #expect(try await run("contact", "verify", ann.name, number.joined(separator: " ")).status == 0)
        #expect(try await run("contact", "list").output.contains("verified\n"))
        let json = try await run("contact", "show", ann.name, "--json").output
        #expect(json.contains("\"isVerified\":true"))
        #expect(json.contains("\"conflict\":null"))
        #expect(try await run("contact", "unverify", ann.name).output.contains("not compared"))
        #expect(try await run("contact", "accept", ann.name).status == 0)
    }
}
