import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import SealWire
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct AccountTests {
    private let temporary: TemporaryFolder
    private var folder: URL { temporary.url }

    init() throws { temporary = try TemporaryFolder() }

    @Test func keyFileIsPrivateAndSealedByAPassphrase() async throws {
        let person = try await Person()
        let url = folder.appendingPathComponent("account.json")
        try KeyFile.write(person.account, to: url, passphrase: "correct horse")
        let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let seed = person.account.seed.bytes.copyBytes()
        #expect(try !String(contentsOf: url, encoding: .utf8).contains(Base64URL.encode(seed)))

        let file = try KeyFile(contentsOf: url)
        #expect(file.server == person.server.origin)
        #expect(await failure { _ = try file.open { "wrong" } } == .wrongPassphrase)
        let seeds = try file.open { "correct horse" }
        let again = try Account(seeds: seeds, transport: HTTPTransport(server: file.server))
        #expect(try await again.status() == .available)
        let container = try Container("org.example.notes", account: again)
        #expect(try container.userRecordID() == person.container.userRecordID())
    }

    @Test func keyFileIsNeverOverwrittenAndRefusesWhatItIsNot() async throws {
        let person = try await Person()
        let url = folder.appendingPathComponent("account.json")
        try KeyFile.write(person.account, to: url, passphrase: nil)
        #expect(await failure { try KeyFile.write(person.account, to: url, passphrase: nil) } == .constraintViolation)
        #expect(await failure { try KeyFile.write(person.account, to: url, passphrase: "") } == .invalidArguments)
        try Data("{}".utf8).write(to: folder.appendingPathComponent("other"))
        #expect(
            await failure { _ = try KeyFile(contentsOf: folder.appendingPathComponent("other")) } == .invalidArguments)
        #expect(
            await failure { _ = try KeyFile(contentsOf: folder.appendingPathComponent("absent")) } == .notAuthenticated)
    }

    @Test func recoveryKeyBringsTheAccountBack() async throws {
        let server = try ServerProcess.shared.get()
        let (account, recoveryKey) = try await Account.create(transport: HTTPTransport(server: server.origin))
        let container = try Container("org.example.notes", account: account)
        let zone = try await container.privateDatabase.save(RecordZone(zoneName: "kept")).zoneID
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: "one", zoneID: zone))
        record.encryptedValues["body"] = "still here"
        try await container.privateDatabase.save(record)

        let typed = try RecoveryKey(text: recoveryKey.text().lowercased())
        let recovered = try await Account.recover(typed, transport: HTTPTransport(server: server.origin))
        let database = try Container("org.example.notes", account: recovered).privateDatabase
        let body: String? = try await database.record(for: record.recordID).encryptedValues["body"]
        #expect(body == "still here")

        var random = SystemRandom()
        let other = RecoveryKey(random: &random)
        let code = await failure {
            _ = try await Account.recover(other, transport: HTTPTransport(server: server.origin))
        }
        #expect(code == .unknownItem)
    }

    @Test func aSessionThatEndedIsRenewedByTheSDK() async throws {
        let person = try await Person()
        let zone = try await person.makeZone()
        let stale = try await person.account.session.token()
        try await person.account.logOut()
        let response = try await person.account.client.transport.post(
            person.container.core.path(Endpoints.zones.lookup.route, in: .private, [:]), body: Data(), token: stale)
        #expect(response.failure.code == .sessionExpired)
        #expect(try await person.own.recordZone(for: zone).zoneID == zone)
    }

    @Test func accountsThatTheServerDoesNotKnowAreNoAccounts() async throws {
        let server = try ServerProcess.shared.get()
        var random = SystemRandom()
        let account = try Account(
            seeds: [AccountSeed(random: &random)], transport: HTTPTransport(server: server.origin))
        #expect(try await account.status() == .noAccount)
    }

    @Test func serversAreNamedByOriginAndPlainHTTPStaysOnThisMachine() async throws {
        for text in [
            "notes.example.org", "ftp://x", "https://x/path", "https://user@x", "http://notes.example.org",
            "https://b%C3%BCcher.example", "https://a%2Db.example", "",
        ] {
            #expect(await failure { _ = try HTTPTransport(server: text) } == .invalidArguments, "\(text)")
        }
        do {
            _ = try HTTPTransport(server: "http://notes.example.org:8443")
            Issue.record("plain HTTP went beyond this machine")
        } catch {
            #expect(error.remedy == "use https://notes.example.org:8443")
        }
        #expect(try HTTPTransport(server: "HTTPS://Notes.Example.org:443/").origin == "https://notes.example.org")
        #expect(try HTTPTransport(server: "http://localhost:8080").origin == "http://localhost:8080")
        for text in [
            "https://B\u{FC}cher.example", "https://bu\u{308}cher.example:443", "https://xn--Bcher-kva.example",
        ] {
            #expect(try HTTPTransport(server: text).origin == "https://xn--bcher-kva.example", "\(text)")
        }
        #expect(try HTTPTransport(server: "https://fa\u{DF}.example").origin == "https://xn--fa-hia.example")
        #expect(try HTTPTransport(server: "http://[::1]:8080").origin == "http://[::1]:8080")
    }
}
