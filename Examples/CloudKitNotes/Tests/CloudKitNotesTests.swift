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

        func started() async throws -> Notes {
            let notes = try Notes(file: file)
            let container = CKContainer(
                identifier: device.container.containerIdentifier,
                setup: CKContainer.Setup(account: .provider(device.accounts)))
            await notes.start(container.privateCloudDatabase, automatically: false)
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
                withID: .init(zoneName: Notes.zoneID.zoneName))
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
}
