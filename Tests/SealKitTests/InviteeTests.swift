import Foundation
import SealEnvelope
import SealLab
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// From a share's URL to reading, for somebody whom the server does not know yet; and the addresses of those it does.
@Suite(.timeLimit(.minutes(60))) struct InviteeTests {
    /// Answers as somebody would who reads their mail.
    private final class Answers: Invitee {
        struct Asked: Sendable {
            var addresses = 0
            var codes: [Int] = []
            /// How many messages had come to the address before.
            var messages = 0
        }
        private let person: Person
        private let addresses: [String]
        /// What is said in the place of the real code, one a question; nil is another message.
        private let slips: Mutex<[String?]>
        private let state = Mutex(Asked())

        init(_ person: Person, _ addresses: [String], slips: [String?] = []) {
            (self.person, self.addresses) = (person, addresses)
            self.slips = Mutex(slips)
        }

        var asked: Asked { state.withLock { $0 } }

        func address(isAgain: Bool) async throws(SealKitError) -> String {
            let number = state.withLock { state in
                state.addresses += 1
                return state.addresses - 1
            }
            guard isAgain == (number > 0), number < addresses.count else {
                throw SealKitError(.operationCancelled, "asked too often")
            }
            let before = person.server.mail?.messages(to: addresses[number]).count ?? 0
            state.withLock { $0.messages = before }
            return addresses[number]
        }

        func code(sentTo address: String, expires: Date, triesLeft: Int) async throws(SealKitError) -> String? {
            state.withLock { $0.codes.append(triesLeft) }
            // The newest one: a code before it is of no use any more. Waited for whatever is answered, or it would come
            // among the next ones.
            let before = state.withLock { $0.messages }
            do {
                while (person.server.mail?.messages(to: address).count ?? 0) <= before {
                    try await Task.sleep(for: .milliseconds(20))
                }
                let slip: String?? = slips.withLock { $0.isEmpty ? nil : .some($0.removeFirst()) }
                if let slip { return slip }
                return try await person.code(address)
            } catch {
                throw SealKitError(.operationCancelled, "no mail came")
            }
        }
    }

    struct Invited {
        let ann: Person
        let mail: String
        let url: String
        let note: Record

        /// On a server of its own: how many codes one network address may ask for is limited.
        init(_ server: ServerProcess) async throws {
            ann = try await Person(server)
            mail = "invitee-\(UUID().uuidString.prefix(8).lowercased())@example.org"
            let zone = try await ann.makeZone()
            note = ann.note(in: zone, "from Ann")
            try await ann.own.save(note)
            var share = Share(recordZoneID: zone)
            let placeholder = try await ann.container.shareParticipant(forEmailAddress: mail)
            share.addParticipant(placeholder)
            share = try await ann.own.save(share)
            url = try #require(share.oneTimeURL(for: placeholder.participantID))
        }
    }

    @Test func somebodyWithoutAnAccountReadsInTheEnd() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await Invited(server)
        // What an app does with a URL and nothing else.
        let transport = try HTTPTransport(server: try Share.server(of: place.url))
        let (account, recoveryKey) = try await Account.create(transport: transport)
        #expect(!recoveryKey.text().isEmpty)
        let container = try Container(place.ann.container.containerIdentifier, account: account)
        let seen = Mutex<String?>(nil)
        let answers = Answers(place.ann, [place.mail, place.mail], slips: ["00 00-00 0x", nil])
        let joined = try await container.accept(place.url, as: answers, language: "de") {
            metadata throws(SealKitError) in
            seen.withLock { $0 = metadata.ownerIdentity.userRecordID?.recordName }
        }
        #expect(seen.withLock { $0 } == place.ann.name)
        // A wrong code, then no code at all, then another message to the address.
        #expect(answers.asked.addresses == 2)
        #expect(answers.asked.codes == [5, 4, 5])
        let id = Record.ID(recordName: place.note.recordID.recordName, zoneID: joined)
        let body: String? = try await container.sharedDatabase.record(for: id).encryptedValues["body"]
        #expect(body == "from Ann")
        let mails = place.ann.server.mail?.messages(to: place.mail) ?? []
        #expect(mails.count == 2)
        #expect(mails.allSatisfy { $0.contains("Content-Language: de") && !$0.contains("#") })
        #expect(try await account.linkedAddresses().map(\.kind) == [.emailAddress])
        // Once more: a participant is asked nothing.
        let again = Answers(place.ann, [])
        #expect(try await container.accept(place.url, as: again) == joined && again.asked.addresses == 0)
    }

    @Test func whatIsNotProvenIsNotAccepted() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await Invited(server)
        let carol = try await Person(server)
        #expect(
            await failure { try await carol.container.accept(place.url, as: Answers(carol, [])) } == .operationCancelled
        )
        // Another address than the invited one.
        let other = "other-\(UUID().uuidString.prefix(8).lowercased())@example.org"
        #expect(
            await failure { try await carol.container.accept(place.url, as: Answers(carol, [other])) } == .unknownItem)
        // Too many wrong codes.
        let slips: [String?] = Array(repeating: "1", count: 5)
        let guessing = Answers(carol, [place.mail], slips: slips)
        #expect(await failure { try await carol.container.accept(place.url, as: guessing) } == .verificationFailed)
        #expect(guessing.asked.codes == [5, 4, 3, 2, 1])
        // Looked at, and left.
        let leaving = Answers(carol, [place.mail])
        let left = await failure {
            try await carol.container.accept(place.url, as: leaving) { _ throws(SealKitError) in
                throw SealKitError(.operationCancelled, "not now")
            }
        }
        #expect(left == .operationCancelled)
        #expect(try await carol.shared.allRecordZones().isEmpty)
        for url in ["", "https://example.org/s/abc", place.url.prefix(40).description, place.url + "A"] {
            #expect(throws: SealKitError.self) { try Share.server(of: url) }
        }
    }

    @Test func addressesAreShownHiddenAndUnlinked() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let (ann, bob) = (try await Person(server), try await Person(server))
        let mail = "bob-\(UUID().uuidString.prefix(8).lowercased())@example.org"
        try await bob.link(mail, discoverable: false)
        func found() async throws -> Bool {
            try await ann.container.shareParticipant(forEmailAddress: mail).userIdentity.hasAccount
        }
        #expect(try await !found())
        let shown = try await bob.account.setDiscoverable(true, address: mail.uppercased())
        #expect(shown.isDiscoverable)
        #expect(shown.kind == .emailAddress)
        #expect(abs(shown.linked.timeIntervalSinceNow) < 600)
        #expect(try await found())
        #expect(try await bob.account.linkedAddresses() == [shown])
        #expect(try await !bob.account.setDiscoverable(false, id: shown.id).isDiscoverable)
        #expect(try await !found())
        // Nobody else's.
        #expect(await failure { try await ann.account.setDiscoverable(true, address: mail) } == .unknownItem)
        #expect(try await ann.account.unlinkAddress(mail) == false)
        #expect(try await bob.account.linkedAddresses().count == 1)
        #expect(try await bob.account.unlinkAddress(id: shown.id))
        #expect(try await bob.account.linkedAddresses().isEmpty)
        try await bob.account.unlinkAddress(mail)
        #expect(await failure { try await bob.account.unlinkAddress("nobody") } == .invalidArguments)
        #expect(await failure { try await bob.account.setDiscoverable(true, id: Data([1])) } == .invalidArguments)
    }

    @Test func whoeverIsHiddenIsInvitedAndNeedsNoCode() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let place = try await Invited(server)
        let carol = try await Person(server)
        try await carol.link(place.mail, discoverable: false)
        let answers = Answers(carol, [])
        let joined = try await carol.container.accept(place.url, as: answers)
        #expect(answers.asked.addresses == 0)
        #expect(try await carol.shared.allRecordZones().map(\.zoneID) == [joined])
    }

    @Test func manyPeopleAreLookedUpAtOnce() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let (ann, bob) = (try await Person(server), try await Person(server))
        let mail = "bob-\(UUID().uuidString.prefix(8).lowercased())@example.org"
        try await bob.link(mail)
        let unknown = "_" + String(repeating: "0", count: 32)
        let infos: [Share.LookupInfo] = [
            .emailAddress(mail), .emailAddress("nobody-\(mail)"), .emailAddress("nobody"), .phoneNumber("+4930123456"),
            .phoneNumber("030"),
            .userRecordName(bob.name), .userRecordName(unknown), .userRecordName("bob"), .userRecordName(ann.name),
            .emailAddress(mail),
        ]
        let results = try await ann.container.shareParticipants(for: infos, permission: .readWrite)
        #expect(results.count == infos.count - 1)
        let names = infos.map { (try? results[$0]?.get())?.userIdentity.userRecordID?.recordName }
        #expect(names == [bob.name, nil, nil, nil, nil, bob.name, nil, nil, nil, bob.name])
        #expect(
            infos.map { results[$0]?.failureCode } == [
                nil, nil, .invalidArguments, nil, .invalidArguments, nil, .unknownItem, .invalidArguments,
                .invalidArguments, nil,
            ])
        let placeholder = try #require(try results[infos[3]]?.get())
        #expect(!placeholder.userIdentity.hasAccount)
        #expect(placeholder.permission == .readWrite)
        #expect(placeholder.userIdentity.lookupInfo == .phoneNumber("+4930123456"))
        // By one kind, as CloudKit has them; and more than one request takes.
        let byMail = try await ann.container.shareParticipants(
            forEmailAddresses: (0..<120).map { "a\($0)-\(mail)" } + [mail])
        #expect(byMail.count == 121)
        #expect(byMail.values.filter { (try? $0.get())?.userIdentity.hasAccount == true }.count == 1)
        #expect(try byMail[mail]?.get().userIdentity.userRecordID?.recordName == bob.name)
        #expect(byMail.values.allSatisfy { (try? $0.get()) != nil })
        let bobs = Record.ID(recordName: bob.name)
        #expect(
            try await ann.container.shareParticipants(forUserRecordIDs: [bobs])[bobs]?.get().userIdentity.userRecordID
                == bobs)
        #expect(try await ann.container.shareParticipants(forPhoneNumbers: ["+4930123456"]).count == 1)
        #expect(try await ann.container.shareParticipants(for: []).isEmpty)
    }

    @Test func aServerThatLeavesSomebodyOutIsNotBelieved() async throws {
        let (ann, network) = try await Person().behindAttacker()
        let names = (0..<2).map { "_" + String(repeating: "\($0)", count: 32) }
        network.rewrite("directory/lookup", Sealkit_V1_LookupIdentitiesResponse.self) { $0.results.removeLast() }
        let refused = await failure {
            _ = try await ann.container.shareParticipants(for: names.map { .userRecordName($0) })
        }
        #expect(refused == .serverRejectedRequest)
    }

    // MARK: What may happen on the way

    @Test func aServerThatIsKilledWhileItSendsSendsAgain() async throws {
        let kept = try TemporaryFolder()
        let folder = kept.url
        let mail = try MailServer(folder: folder.appendingPathComponent("mail"))
        defer { mail.stop() }
        try await mail.waitUntilListening()
        let arguments = ["--smtp-url", mail.url, "--smtp-from", "sealkit@example.org", "--smtp-starttls", "off"]
        var server = try ServerProcess(folder: folder, mail: false, arguments: arguments)
        let port = server.port
        let bob = try await Person(server)
        // The relay takes the connection and says nothing: the message is on its way when the server dies.
        mail.pause()
        let begun = try await bob.container.beginVerification(of: "bob@example.org")
        try await Task.sleep(for: .milliseconds(300))
        server.kill()
        mail.resume()
        #expect(mail.messages(to: "bob@example.org").isEmpty)
        // Nothing of it lies readable beside the database.
        let data = try Data(contentsOf: server.dataFolder.appendingPathComponent("sealkit.sqlite"))
        #expect(data.range(of: Data("bob@example.org".utf8)) == nil)
        server = try ServerProcess(folder: folder, port: port, mail: false, arguments: arguments)
        defer { server.terminate() }
        let code = try await mail.code(for: "bob@example.org")
        _ = try await begun.complete(code: code, discoverable: true)
        #expect(try await bob.account.linkedAddresses().map(\.isDiscoverable) == [true])
    }
}
