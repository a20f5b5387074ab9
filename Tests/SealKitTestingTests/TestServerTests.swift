import Foundation
import SealKit
import SealKitTesting
import SealServer
import SealService
import Testing

/// What an app's test gets: a whole server for itself, people, mail, time, and nothing that is left.
@Suite(.timeLimit(.minutes(60))) struct TestServerTests {
    private struct Stop: Error {}

    @Test func twoPeopleShareANote() async throws {
        try await TestServer.run { server in
            let notes = try await Notes(server)
            #expect(try await notes.bob.body(of: notes.bobs) == "first")
            try await notes.bob.edit(notes.bobs, body: "second")
            #expect(try await notes.alice.body(of: notes.note) == "second")
            #expect(notes.alice.container.containerIdentifier == TestServer.defaultContainer)
            #expect(server.origin.hasPrefix("https://"))
            #expect(server.origin.hasSuffix(".sealkit.test"))
        }
    }

    @Test func aServerIsGoneAfterItsTest() async throws {
        var folders: [URL] = []
        let alice = try await TestServer.run { server in
            let alice = try await server.account(named: "alice")
            let zone = try await alice.own.save(RecordZone(zoneName: "Notes")).zoneID
            try await alice.save("note", in: zone, body: "tomatoes")
            folders = [server.folder, try await server.snapshot().folder]
            #expect(folders.allSatisfy(exists))
            #expect(try server.holds("Notes") && !server.holds("tomatoes"), "names are plain, and values are not")
            return alice
        }
        await expectRefused(.networkFailure) { _ = try await alice.own.databaseChanges() }
        await #expect(throws: Stop.self) {
            try await TestServer.run { server in
                folders.append(server.folder)
                throw Stop()
            }
        }
        #expect(folders.count == 3, "also where the test threw")
        #expect(!folders.contains(where: exists), "also where the test threw")
    }

    /// Wherever the database cuts a record of more than a page.
    @Test func whatTheServerHasIsFound() async throws {
        try await TestServer.run { server in
            let alice = try await server.account(named: "alice")
            let zone = try await alice.own.save(RecordZone(zoneName: "Notes")).zoneID
            // Records of one size, with the text at every place of a page of 4 KiB. An index has what comes first.
            let places = Array(stride(from: 600, to: 5_000, by: 60))
            func text(at place: Int) -> String {
                "tomatoes-\(place)-go-left-of-the-beans-and-right-of-the-peas-in-the-garden"
            }
            let notes = places.map { place in
                var note = Record(recordType: "Note", recordID: Record.ID(recordName: "at-\(place)", zoneID: zone))
                note["body"] = String(repeating: "x", count: place) + text(at: place)
                note["rest"] = String(repeating: "x", count: 6_000 - place)
                note.encryptedValues["secret"] = "the cabbage stays where it is"
                return note
            }
            let results = try await alice.own.modifyRecords(saving: notes)
            for result in results.saveResults.values { _ = try result.get() }
            let missing = try places.filter { try !server.holds(text(at: $0)) }
            #expect(missing == [])
            #expect(try !server.holds(text(at: 599)))
            #expect(try !server.holds("cabbage"))
        }
    }

    private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    @Test func serversKnowNothingOfOneAnother() async throws {
        try await TestServer.run(container: "org.example.one") { one in
            try await TestServer.run(container: "org.example.other") { other in
                let alice = try await one.account(named: "alice")
                let bob = try await other.account(named: "bob")
                #expect(alice.container.containerIdentifier == "org.example.one")
                #expect(one.origin != other.origin)
                let name = try bob.container.userRecordID()
                await expectRefused(.unknownItem) {
                    _ = try await alice.container.shareParticipant(forUserRecordID: name)
                }
            }
        }
    }

    @Test func anotherDeviceHasTheKeysAndIsAnnounced() async throws {
        try await TestServer.run { server in
            let notes = try await Notes(server)
            var changes = notes.alice.accounts.changes.makeAsyncIterator()
            let laptop = try await notes.alice.anotherDevice(named: "laptop")
            #expect(try await laptop.body(of: notes.note) == "first")
            _ = try await notes.alice.own.databaseChanges()
            guard case .newDevice(let device)? = await changes.next() else {
                Issue.record("no warning")
                return
            }
            #expect(device.name == "laptop")
            // A restarted device is no other one.
            let again = try await notes.alice.restarted()
            #expect(try await again.body(of: notes.note) == "first")
            #expect(try await again.account.devices().map(\.name).sorted() == ["alice", "laptop"])
        }
    }

    @Test func aRestartedDeviceRemembersWhatItHasVerified() async throws {
        try await TestServer.run { server in
            let notes = try await Notes(server)
            let before = try await server.snapshot()
            try await notes.alice.edit(notes.note, body: "second")
            let again = try await notes.alice.restarted()
            again.network.inject(.rollback(to: before))
            await expectRefused(.rollback) { _ = try await again.body(of: notes.note) }
        }
    }

    @Test func changesAreToldAsTheyHappen() async throws {
        try await TestServer.run { server in
            let notes = try await Notes(server)
            _ = try await notes.alice.own.save(DatabaseSubscription(subscriptionID: "all"))
            let laptop = try await notes.alice.anotherDevice(named: "laptop")
            var heard = laptop.container.notifications().makeAsyncIterator()
            #expect(try await heard.next()?.content == .ready)
            try await notes.bob.edit(notes.bobs, body: "second")
            guard case .fired(let fired)? = try await heard.next()?.content else {
                Issue.record("nothing was told")
                return
            }
            #expect(fired.subscriptionID == "all")
            #expect(fired.zoneID == notes.zone)
        }
    }

    @Test func codesComeByMailAndText() async throws {
        try await TestServer.run { server in
            let alice = try await server.account(named: "alice")
            for address in ["alice@example.org", "+4930123456"] {
                let verification = try await alice.container.beginVerification(of: address)
                let mailbox = server.mailbox(for: address)
                _ = try await verification.complete(code: try await mailbox.code())
                #expect(mailbox.messages.count == 1)
                #expect(server.mailbox(for: "bob@example.org").messages.isEmpty)
            }
            #expect(try await alice.account.linkedAddresses().count == 2)
            await expectRefused(.verificationFailed) { _ = try await server.mailbox(for: "bob@example.org").code() }
        }
    }

    @Test func timePassesOnTheServer() async throws {
        try await TestServer.run { server in
            let alice = try await server.account(named: "alice")
            let verification = try await alice.container.beginVerification(of: "alice@example.org")
            let code = try await server.mailbox(for: "alice@example.org").code()
            try await server.advance(by: .seconds(11 * 60))
            await expectRefused(.verificationFailed) { _ = try await verification.complete(code: code) }
            // Sessions have ended as well by then, and begin again by themselves.
            try await server.advance(by: .seconds(400 * 86_400))
            _ = try await alice.own.databaseChanges()
        }
    }

    @Test func waitsPassInNoTime() async throws {
        try await TestServer.run { server in
            let alice = try await server.account(named: "alice")
            alice.network.inject(.refusal(.requestRateLimited, retryAfter: 30, of: "zones/changes", times: 1))
            let start = ContinuousClock.now
            _ = try await alice.own.databaseChanges()
            #expect(ContinuousClock.now - start < .seconds(20))
            #expect(alice.network.requests.count { $0.hasSuffix("zones/changes") } == 2)
        }
    }

    @Test func limitsAreTheTestsToSet() async throws {
        try await TestServer.run(configure: { $0.limits.zonesPerUser = 1 }) { server in
            let alice = try await server.account(named: "alice")
            _ = try await alice.own.save(RecordZone(zoneName: "one"))
            await expectRefused(.quotaExceeded) { _ = try await alice.own.save(RecordZone(zoneName: "two")) }
        }
    }

    @Test func anAppMakesItsAccountByItself() async throws {
        try await TestServer.run { server in
            let (store, network) = (MemoryKeyStore(), server.network())
            let (account, _) = try await Account.create(transport: network, in: store)
            let accounts = AccountProvider()
            accounts.signIn(account, trust: try TrustStore())
            let container = try Container(server.containerIdentifier, accounts: accounts)
            #expect(try await container.accountStatus() == .available)
            #expect(network.requests.contains { $0.hasSuffix("accounts/create") })
        }
    }

    @Test func theOperatorSetsUpTheSchema() async throws {
        try await TestServer.run { server in
            let alice = try await server.account(named: "alice")
            try await alice.save("note", in: alice.own.save(RecordZone(zoneName: "Notes")).zoneID, body: "x")
            let schema = try await server.management().exportSchema(from: .development)
            #expect(schema.contains("Note"))
        }
    }

    @Test func syncEnginesOfTwoDevicesMeet() async throws {
        try await TestServer.run { server in
            let notes = try await Notes(server)
            let laptop = try await notes.alice.anotherDevice(named: "laptop")
            let heard = Heard()
            var configuration = SyncEngine.Configuration(
                container: laptop.container, stateSerialization: nil, delegate: heard)
            configuration.automaticallySync = false
            let engine = try SyncEngine(configuration)
            try await engine.fetchChanges()
            #expect(await heard.names.contains(notes.note.recordName))
        }
    }
}

/// What a sync engine's delegate was told of.
private actor Heard: SyncEngineDelegate {
    private(set) var names: [String] = []

    func handleEvent(_ event: SyncEngine.Event, syncEngine: SyncEngine) async {
        guard case .fetchedRecordZoneChanges(let fetched) = event else { return }
        names += fetched.modifications.map(\.record.recordID.recordName)
    }

    func nextRecordZoneChangeBatch(
        _ context: SyncEngine.SendChangesContext, syncEngine: SyncEngine
    ) async -> SyncEngine.RecordZoneChangeBatch? { nil }
}
