import CloudKit
import Foundation
import SealKit
import SealKitTesting
import SealLab
import Testing

@testable import Tutorials

/// What the tutorials end with, against a server in a process of its own.
@Suite(.timeLimit(.minutes(60))) final class TutorialsTests: Sendable {
    private let server: ServerProcess

    init() throws { server = try ServerProcess.temporary() }

    deinit { server.remove() }

    private func container(of name: String) async throws -> Container {
        let (account, _) = try await Account.create(
            transport: try HTTPTransport(server: server.origin), deviceName: name)
        let container = try Container("com.example.list", account: account, trust: try TrustStore())
        try await container.register()
        return container
    }

    @Test func notesAreFoundAgainAfterARestartAndChangedOnTopOfOthers() async throws {
        var keys: [String] = []
        func open() async throws -> Notebook {
            try await Notebook(server: server.origin, folder: server.folder, passphrase: "correct horse") {
                keys.append($0.text())
            }
        }
        // A first start that never came to the server is gone on with by the next.
        await #expect(throws: SealKitError.self) {
            _ = try await Notebook(
                server: "http://127.0.0.1:1", folder: self.server.folder, passphrase: "correct horse"
            ) {
                _ in Issue.record("no account was made")
            }
        }
        let first = try await open()
        let id = try await first.add("Tomatoes go left", to: "garden")
        try await first.add("Ring the roofer", to: "house")
        try await first.edit(id) { $0 + ", beans right" }

        let second = try await open()
        #expect(keys.count == 1, "the account was made once")
        #expect(try await second.texts() == ["Ring the roofer", "Tomatoes go left, beans right"])
        #expect(try await second.notes(in: "garden").map(\.recordID) == [id])
        // More than one answer has.
        let many = (0..<201).map { number in
            let name = Record.ID(recordName: "attic-\(number)", zoneID: first.zoneID)
            var note = Record(recordType: "Note", recordID: name)
            note["folder"] = "attic"
            return note
        }
        _ = try await first.database.modifyRecords(saving: many)
        #expect(try await second.notes(in: "attic").count == 201)
        // Both have read the same version, and both change it.
        async let one: Void = first.edit(id) { $0 + " 1" }
        async let other: Void = second.edit(id) { $0 + " 2" }
        _ = try await (one, other)
        let text = try #require(try await first.texts().first { $0.hasPrefix("Tomatoes") })
        #expect(text.contains("1") && text.contains("2"))
    }

    @Test func aListIsWrittenByTwoAndLeftByOne() async throws {
        let (ann, bob) = (try await container(of: "Ann"), try await container(of: "Bob"))
        let bobsName = try bob.userRecordID()
        let list = try await SharedList.make("Groceries", in: ann)
        let url = try #require(try await list.invite(bobsName, in: ann))
        let joined = try await SharedList.join(url, in: bob)
        try await list.add("bread")
        try await joined.add("cheese")

        let items = try await list.items()
        #expect(Set(items.map(\.text)) == ["bread", "cheese"])
        #expect(items.first { $0.text == "cheese" }?.author == bobsName)
        try await list.remove(bobsName)
        await #expect(throws: SealKitError.self) { try await joined.add("wine") }
        try await list.add("butter")
        #expect(try await list.items().count == 3)
        // More than one answer has.
        let long = String(repeating: "milk ", count: 40_000)
        for _ in 0..<12 { try await list.add(long) }
        #expect(try await list.items().count == 15)
    }

    @Test func twoDevicesAreInStep() async throws {
        let (account, recoveryKey) = try await Account.create(transport: try HTTPTransport(server: server.origin))
        let recovered = try await Account.recover(recoveryKey, transport: try HTTPTransport(server: server.origin))
        let phone = try Todos(file: server.folder.appendingPathComponent("phone.json"))
        try await phone.set("tomatoes")
        try await phone.start(try Container("com.example.todos", account: account, trust: try TrustStore()))
        let laptop = try Todos(file: server.folder.appendingPathComponent("laptop.json"))
        let beans = try await laptop.set("beans")
        try await laptop.start(try Container("com.example.todos", account: recovered, trust: try TrustStore()))
        for device in [phone, laptop, phone] { try await device.sync() }
        #expect(await phone.texts == ["beans", "tomatoes"])
        #expect(await laptop.texts == ["beans", "tomatoes"])

        // Both change the same one: whoever sends last has the last word, and nobody is stuck.
        try await phone.set("green beans", of: beans)
        try await laptop.set("white beans", of: beans)
        try await phone.sync()
        try await laptop.sync()
        for device in [laptop, phone] { try await device.sync() }
        #expect(await phone.texts == ["tomatoes", "white beans"])
        #expect(await laptop.texts == ["tomatoes", "white beans"])
        try await phone.set(nil, of: beans)
        for device in [phone, laptop] { try await device.sync() }
        #expect(await laptop.texts == ["tomatoes"])
    }

    @Test func aListWhoseZoneIsGoneKeepsWhatIsNewer() async throws {
        let expected: [(reason: Database.DatabaseChanges.DeletionReason, texts: [String])] = [
            (.deleted, ["new"]), (.purged, []), (.encryptedDataReset, ["new", "old"]),
        ]
        for (reason, texts) in expected {
            let (account, recoveryKey) = try await Account.create(transport: try HTTPTransport(server: server.origin))
            let phone = try Todos(file: server.folder.appendingPathComponent("phone-\(reason).json"))
            try await phone.set("old")
            try await phone.start(try Container("com.example.todos", account: account, trust: try TrustStore()))
            try await phone.sync()
            let recovered = try await Account.recover(recoveryKey, transport: try HTTPTransport(server: server.origin))
            let other = try Container("com.example.todos", account: recovered, trust: try TrustStore())
            let zone = RecordZone(zoneName: "todos")
            try await other.privateDatabase.deleteRecordZone(withID: zone.zoneID, reason: reason)

            try await phone.set("new")
            try await phone.sync()
            #expect(await phone.texts == texts)
            if reason == .purged {
                // Whoever writes after it was told wants a list again.
                try await phone.set("milk")
                try await phone.sync()
            }
            let later = reason == .purged ? ["milk"] : texts
            #expect(await phone.texts == later)
            let laptop = try Todos(file: server.folder.appendingPathComponent("laptop-\(reason).json"))
            try await laptop.start(other)
            try await laptop.sync()
            #expect(await laptop.texts == later)
        }
    }

    @Test func anAppOfCloudKitsRunsAndSealsWhatItSaves() async throws {
        let keyFile = server.folder.appendingPathComponent("account.json")
        _ = try await Account.create(
            transport: try HTTPTransport(server: server.origin), in: FileKeyStore(file: keyFile))
        CloudNotes.signIn(keyFile: keyFile)
        let notes = CloudNotes(container: CKContainer.default())
        try await notes.save("Tomatoes go left", as: "first")
        // A name that is taken is another device's note: nothing is written over it unseen.
        await #expect(throws: CKError.self) { try await notes.save("Beans", as: "first") }
        #expect(try await notes.texts() == ["Tomatoes go left"])
        try await notes.edit("first") { $0.replacingOccurrences(of: "left", with: "right") }
        #expect(try await notes.texts() == ["Tomatoes go right"])
        // More than one answer has.
        let long = String(repeating: "milk ", count: 40_000)
        for number in 0..<12 { try await notes.save(long, as: "long-\(number)") }
        #expect(try await notes.texts().count == 13)
        // Two devices change the same one at once, and neither loses anything.
        async let one: Void = notes.edit("first") { $0 + " 1" }
        async let other: Void = notes.edit("first") { $0 + " 2" }
        _ = try await (one, other)
        let text = try #require(try await notes.texts().first { $0.hasPrefix("Tomatoes") })
        #expect(text.contains("1") && text.contains("2"))
    }

    @Test func whatDoesNotOpenKeepsNothingElseAway() async throws {
        try await TestServer.run { server in
            let ann = try await server.account(named: "Ann")
            let list = try await SharedList.make("Groceries", in: ann.container)
            for text in ["bread", "cheese", "butter"] { try await list.add(text) }
            let feed = try await list.database.recordZoneChanges(inZoneWith: list.zoneID)
            let cheese = try feed.modifications.first { try $0.result.get().encryptedValues["text"] == "cheese" }
            let id = try #require(cheese).recordID
            ann.network.inject(.flippedBit(in: id))
            #expect(Set(try await list.items().map(\.text)) == ["bread", "butter"])

            let cloud = CKContainer(
                identifier: server.containerIdentifier, setup: CKContainer.Setup(account: .provider(ann.accounts)))
            let notes = CloudNotes(container: cloud)
            for name in ["first", "second"] { try await notes.save(name, as: name) }
            let second = Record.ID(recordName: "second", zoneID: RecordZone.ID(zoneName: "Notes"))
            ann.network.inject(.flippedBit(in: second))
            #expect(try await notes.texts() == ["first"])
        }
    }
}
