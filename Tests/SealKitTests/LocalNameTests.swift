import Foundation
import SealClient
import SealLab
import Testing

@testable import SealKit

/// What a user calls people: on this device, and nowhere else.
@Suite(.timeLimit(.minutes(60))) struct LocalNameTests {
    private let stranger = Record.ID(recordName: "_" + String(repeating: "0", count: 32))

    @Test func namesAreGivenShownReplacedAndTakenAway() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob) = (try await Person(server), try await Person(server))
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        try await zone.view(of: ann)
        let (contacts, id) = (ann.container.contacts, try bob.container.userRecordID())
        #expect(try await contacts.contact(for: id).name == nil)
        try await contacts.setName("Bob from the Xylophone Shop", for: id)
        #expect(try await contacts.contact(for: id).name == "Bob from the Xylophone Shop")
        #expect(try await contacts.all().map(\.name) == ["Bob from the Xylophone Shop"])
        // Of somebody whose keys nobody has seen, too.
        try await contacts.setName("Zoë", for: stranger)
        var names = try await contacts.names()
        let both = [stranger, id].sorted { $0.recordName < $1.recordName }
        #expect(names.userRecordIDs == both)
        #expect(names[stranger] == "Zoë")
        #expect(names.userRecordID(named: "ZOE\u{308}") == stranger)
        #expect(names.userRecordID(named: "Zoe") == nil)
        // One name is one person's.
        for taken in ["zoë", "ＺＯË"] {
            let code = await failure { try await contacts.setName(taken, for: id) }
            #expect(code == .constraintViolation)
        }
        try await contacts.setName("zoë", for: stranger)
        try await contacts.setName("Bob", for: id)
        names = try await contacts.names()
        #expect(names[id] == "Bob")
        #expect(names[stranger] == "zoë")
        #expect(names.userRecordID(named: "bob from the xylophone shop") == nil)
        #expect(
            await failure { try await contacts.setName("Carol", for: Record.ID(recordName: "carol")) }
                == .invalidArguments)

        // On the next start as well, and in no other container; the people are others there.
        let again = try ann.through(HTTPTransport(server: server.origin))
        #expect(try await again.container.contacts.names()[id] == "Bob")
        let other = try Container("org.example.other", account: ann.account, trust: ann.container.core.trust)
        #expect(try await other.contacts.names().isEmpty)
        try await ann.own.save(ann.note(in: zone.zoneID, "after the names"))
        try await contacts.setName(nil, for: id)
        try await contacts.setName(nil, for: id)
        #expect(try await contacts.contact(for: id).name == nil)
        // The server has heard of none of it.
        #expect(server.everything.range(of: Data("ylophone".utf8)) == nil)
        #expect(server.everything.range(of: Data(bob.name.utf8)) != nil)
    }

    @Test(arguments: [
        "", " ", "Bob ", " Bob", "Bo  b", "_bob", "-bob", "+49301234", "(Bob)", "bob@example.org", "Bo\u{7}b", "Bob\n",
        "Bo\u{200B}b", "Bo\u{202E}b",
        "Bo\u{3164}b", "Bo\u{2800}b", "Bo\u{A0}b", "\u{1F}", "\u{E000}", "B\u{43E}b", "\u{391}nn", "\u{2C82}ob",
        "\u{13AA}nn", "An\u{578}", "\u{FF22}\u{43E}b", "\u{A4D0}ob", "\u{2C62}\u{43E}b", "\u{1D5D5}\u{43E}b",
        "B\u{A64D}b", String(repeating: "0123abcd", count: 4), "0123 4567 89AB CDEF", "12345-67890-12345-67890",
        "12345 67890 12345 67890", "0151 2345678", "030/123456", "\u{FF11}23456", "http://example.org", "Bob ftp://b",
        String(repeating: "n", count: 65),
        "b" + String(repeating: "\u{301}", count: 200),
    ])
    func whatIsNoNameIsRefused(text: String) {
        let error = #expect(throws: SealKitError.self) { try LocalName(text) }
        #expect(error?.code == .invalidArguments)
        #expect(error?.reason.contains("no name for somebody") == true)
    }

    @Test(arguments: [
        "Bob", "b", "7th floor", "Ada Decade", "Fee 1", "12345", "Bob 1/2", "Agent 007 of 1234567", "Анна Каренина",
        "Ωμέγα", "Ann (work)", "O'Hara, Jr.", "李小龙", "Борис and Ann",
        String(repeating: "n", count: 64),
    ])
    func whatIsANameIsTaken(text: String) throws { #expect(try LocalName(text).text == text) }

    // MARK: An account that was only made

    @Test func anAccountThatWasOnlyMadeIsInvitedAtOnce() async throws {
        let ann = try await Person()
        let server = ann.server.origin
        func newcomer() async throws -> Container {
            let (account, _) = try await Account.create(
                transport: try HTTPTransport(server: server), deviceName: "test")
            return try Container(ann.container.containerIdentifier, account: account)
        }
        let asked = try await newcomer()
        #expect(try await asked.accountStatus() == .available)
        let told = try await newcomer()
        try await told.register()
        for container in [asked, told] {
            let id = try container.userRecordID()
            let found = try await ann.container.shareParticipant(forUserRecordID: id)
            #expect(found.userIdentity.userRecordID?.recordName == id.recordName)
        }
        // Of one that has said nothing in the container nobody can know.
        let silent = try await newcomer()
        let error = await #expect(throws: SealKitError.self) {
            _ = try await ann.container.shareParticipant(forUserRecordID: silent.userRecordID())
        }
        #expect(error?.code == .unknownItem)
        #expect(error?.remedy.contains("open the app once") == true)
    }
}
