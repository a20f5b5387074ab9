import CloudKit
import SealKitTesting
import Testing

@testable import CloudKitNotes

/// Two devices of one person, each with a file of its own, against a real server.
@Suite(.timeLimit(.minutes(60))) struct CloudKitNotesTests {
    private struct Person {
        let phone: Device
        let laptop: Device
    }

    /// A device with its file, which may be started again.
    private struct Device {
        let device: TestDevice
        let file: URL

        init(_ device: TestDevice, in folder: URL) {
            self.device = device
            file = folder.appendingPathComponent("\(UUID().uuidString).json")
        }

        var container: CKContainer {
            CKContainer(
                identifier: device.container.containerIdentifier,
                setup: CKContainer.Setup(account: .provider(device.accounts)))
        }

        func started() async throws -> Notes {
            let notes = try Notes(file: file)
            await notes.start(container, automatically: false)
            return notes
        }
    }

    private func run(_ body: (TestServer, Person) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestServer.run(container: Notes.containerIdentifier) { server in
            let phone = try await server.account(named: "phone")
            let laptop = try await phone.anotherDevice(named: "laptop")
            try await body(
                server, Person(phone: Device(phone, in: folder), laptop: Device(laptop, in: folder)))
        }
    }

    /// Two people, of whom the first has two devices.
    private func runTwo(_ body: (TestServer, Person, Device) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await run { server, person in
            try await body(server, person, Device(try await server.account(named: "bob"), in: folder))
        }
    }

    /// Bob is in Ann's notebook.
    private func share(_ ann: Notes, _ person: Person, with bob: Notes, _ device: Device, toEdit: Bool) async throws {
        let name = try await device.container.userRecordID().recordName
        let url = try #require(try await ann.share(with: name, toEdit: toEdit, in: person.phone.container))
        let owner = try await bob.accept(url, in: device.container)
        #expect(owner == (try await person.phone.container.userRecordID().recordName))
        _ = try await bob.sync()
    }

    private func texts(_ notes: Notes) async -> [String] { await notes.all.map(\.note.text).sorted() }

    private static func time(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: 800_000_000 + seconds) }

    @Test func whatIsWrittenWithoutANetworkIsOnBothDevicesInTheEnd() async throws {
        try await run { server, person in
            let (phone, laptop) = (try await person.phone.started(), try await person.laptop.started())
            try await phone.add("tomatoes go left")
            try await laptop.add("beans go right")
            for notes in [phone, laptop, phone] {
                let problems = try await notes.sync()
                #expect(problems.isEmpty)
            }
            for notes in [phone, laptop] {
                let shown = await texts(notes)
                #expect(shown == ["beans go right", "tomatoes go left"])
            }
            // The server has the notes and not a word of them.
            #expect(try !server.holds("tomatoes"))
        }
    }

    @Test(arguments: [true, false]) func theLaterChangeWins(phoneIsFirst: Bool) async throws {
        try await run { _, person in
            let (phone, laptop) = (try await person.phone.started(), try await person.laptop.started())
            let name = try await phone.add("first", at: Self.time(0))
            for notes in [phone, laptop] { _ = try await notes.sync() }
            try await phone.edit(name, "earlier", at: Self.time(1))
            try await laptop.edit(name, "later", at: Self.time(2))
            for notes in phoneIsFirst ? [phone, laptop, phone] : [laptop, phone, laptop] {
                let problems = try await notes.sync()
                #expect(problems.isEmpty)
            }
            for notes in [phone, laptop] {
                let shown = await texts(notes)
                #expect(shown == ["later"])
            }
        }
    }

    @Test func whatIsRemovedIsGoneAndWhatWasEditedMeanwhileStays() async throws {
        try await run { _, person in
            let (phone, laptop) = (try await person.phone.started(), try await person.laptop.started())
            let (gone, kept) = (try await phone.add("gone"), try await phone.add("kept"))
            for notes in [phone, laptop] { _ = try await notes.sync() }
            try await phone.remove(gone)
            try await phone.remove(kept)
            try await laptop.edit(kept, "worth more")
            for notes in [phone, laptop, phone, laptop] { _ = try await notes.sync() }
            for notes in [phone, laptop] {
                let shown = await texts(notes)
                #expect(shown == ["worth more"])
            }
        }
    }

    /// What was added while nothing could be sent is sent after the app was ended and started again.
    @Test func aDeviceGoesOnAfterItWasEnded() async throws {
        try await run { _, person in
            let phone = try await person.phone.started()
            try await phone.add("before")
            _ = try await phone.sync()
            let fault = person.phone.device.network.inject(.offline)
            try await phone.add("without a network")
            await #expect(throws: CKError.self) { _ = try await phone.sync() }
            fault.remove()
            let again = try await person.phone.started()
            _ = try await again.sync()
            let laptop = try await person.laptop.started()
            _ = try await laptop.sync()
            let shown = await texts(laptop)
            #expect(shown == ["before", "without a network"])
        }
    }

    @Test func allNotesThrownAwayElsewhere() async throws {
        try await run { _, person in
            let (phone, laptop) = (try await person.phone.started(), try await person.laptop.started())
            try await phone.add("old")
            for notes in [phone, laptop] { _ = try await notes.sync() }
            try await person.laptop.device.container.privateDatabase.deleteRecordZone(
                withID: .init(zoneName: Notes.zoneID(of: Notes.own).zoneName))
            try await phone.add("new")
            for notes in [phone, laptop] {
                _ = try await notes.sync()
                let shown = await texts(notes)
                #expect(shown == ["new"])
            }
        }
    }

    @Test func anotherPersonsNotesAreNobodyElses() async throws {
        try await run { server, person in
            let phone = try await person.phone.started()
            try await phone.add("private")
            _ = try await phone.sync()
            let bob = try await server.account(named: "bob")
            person.phone.device.accounts.signIn(bob.account, trust: bob.trust)
            _ = try await phone.sync()
            let shown = await texts(phone)
            #expect(shown.isEmpty)
            person.phone.device.accounts.signOut()
            await #expect(throws: CKError.self) { _ = try await phone.sync() }
        }
    }

    // MARK: Sharing

    @Test func bothEditWhatIsShared() async throws {
        try await runTwo { server, person, device in
            let (ann, laptop, bob) = (
                try await person.phone.started(), try await person.laptop.started(), try await device.started()
            )
            let plan = try await ann.add("tomatoes go left")
            _ = try await ann.sync()
            try await share(ann, person, with: bob, device, toEdit: true)
            try await bob.add("bob's own")
            let owner = try #require(await bob.others.first)
            try await bob.edit(NoteID(notebook: owner, name: plan.name), "tomatoes go right")
            try await bob.add("and beans left", to: owner)
            for notes in [bob, ann, laptop] {
                let problems = try await notes.sync()
                #expect(problems.isEmpty)
            }
            for notes in [ann, laptop] {
                let shown = await texts(notes)
                #expect(shown == ["and beans left", "tomatoes go right"])
            }
            let shown = await texts(bob)
            #expect(shown == ["and beans left", "bob's own", "tomatoes go right"])
            let people = try await ann.people(in: person.phone.container)
            #expect(people.count == 2)
            #expect(people.filter { $0.mayEdit && $0.hasAccepted && !$0.isOwner }.count == 1)
            #expect(try !server.holds("tomatoes"))
            #expect(try !server.holds("beans"))
        }
    }

    @Test(arguments: [true, false]) func theLaterChangeOfTwoPeopleWins(annIsFirst: Bool) async throws {
        try await runTwo { _, person, device in
            let (ann, bob) = (try await person.phone.started(), try await device.started())
            let note = try await ann.add("first", at: Self.time(0))
            _ = try await ann.sync()
            try await share(ann, person, with: bob, device, toEdit: true)
            let owner = try #require(await bob.others.first)
            try await ann.edit(note, "earlier", at: Self.time(1))
            try await bob.edit(NoteID(notebook: owner, name: note.name), "later", at: Self.time(2))
            for notes in annIsFirst ? [ann, bob, ann] : [bob, ann, bob] {
                let problems = try await notes.sync()
                #expect(problems.isEmpty)
            }
            for notes in [ann, bob] {
                let shown = await texts(notes)
                #expect(shown == ["later"])
            }
        }
    }

    /// What a reader has changed is as it was, and said.
    @Test func whoMayReadOnlyChangesNothing() async throws {
        try await runTwo { _, person, device in
            let (ann, bob) = (try await person.phone.started(), try await device.started())
            let (changed, removed) = (try await ann.add("stays as it is"), try await ann.add("stays"))
            _ = try await ann.sync()
            try await share(ann, person, with: bob, device, toEdit: false)
            let owner = try #require(await bob.others.first)
            try await bob.edit(NoteID(notebook: owner, name: changed.name), "changed")
            try await bob.remove(NoteID(notebook: owner, name: removed.name))
            try await bob.add("new", to: owner)
            let problems = try await bob.sync()
            #expect(!problems.isEmpty)
            for notes in [ann, bob] {
                _ = try await notes.sync()
                let shown = await texts(notes)
                #expect(shown == ["stays", "stays as it is"])
            }
        }
    }

    @Test(arguments: [true, false]) func whatIsNotSharedAnyMoreIsGone(bobLeaves: Bool) async throws {
        try await runTwo { _, person, device in
            let (ann, bob) = (try await person.phone.started(), try await device.started())
            try await ann.add("of both")
            _ = try await ann.sync()
            try await share(ann, person, with: bob, device, toEdit: true)
            try await bob.add("bob's own")
            _ = try await bob.sync()
            let owner = try #require(await bob.others.first)
            try await bob.add("never sent", to: owner)
            if bobLeaves {
                try await bob.leave(owner, in: device.container)
            } else {
                try await ann.stopSharing(in: person.phone.container)
            }
            for notes in [bob, ann] { _ = try await notes.sync() }
            let (anns, bobs, others) = (await texts(ann), await texts(bob), await bob.others)
            #expect(anns == ["of both"])
            #expect(bobs == ["bob's own"])
            #expect(others.isEmpty)
        }
    }
}
