import Foundation
import SealKit
import SealLab
import Testing

@testable import TodoList

/// Two devices of one person, each with a folder of its own, against a real server.
@Suite(.timeLimit(.minutes(60))) final class TodoTests: Sendable {
    private let server: ServerProcess
    private let account: Account
    private let recoveryKey: RecoveryKey

    init() async throws {
        server = try ServerProcess.temporary()
        (account, recoveryKey) = try await Account.create(
            transport: HTTPTransport(server: server.origin), deviceName: "phone")
    }

    deinit { server.remove() }

    /// A device with its file, which may be started again.
    private struct Device {
        let file: URL
        let accounts: AccountProvider

        func started() async throws -> TodoList {
            let list = try TodoList(file: file)
            try await list.start(try Container("org.example.todo", accounts: accounts), automatically: false)
            return list
        }
    }

    private func device(_ account: Account?) throws -> Device {
        let accounts = AccountProvider()
        if let account { accounts.signIn(account, trust: try TrustStore()) }
        return Device(file: server.folder.appendingPathComponent("\(UUID().uuidString).json"), accounts: accounts)
    }

    private func secondAccount() async throws -> Account {
        try await Account.recover(recoveryKey, transport: HTTPTransport(server: server.origin), deviceName: "laptop")
    }

    private func titles(_ list: TodoList) async -> [String] {
        await list.items.map { ($0.item.isDone.value ? "x " : "") + $0.item.title.value }
    }

    private static func time(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: 800_000_000 + seconds) }

    @Test func whatIsWrittenWithoutANetworkIsOnBothDevicesInTheEnd() async throws {
        let phone = try await device(account).started()
        let laptop = try await device(try await secondAccount()).started()
        try await phone.add("tomatoes")
        try await laptop.add("beans")
        for list in [phone, laptop, phone] {
            let problems = try await list.sync()
            #expect(problems.isEmpty)
        }
        for list in [phone, laptop] {
            let shown = await titles(list)
            #expect(shown == ["beans", "tomatoes"])
        }
        // The server has the items and not a word of them.
        #expect(!server.everything.contains("tomatoes"))
    }

    /// Different fields are both kept; of one field the later change, on both devices, whichever of them syncs first.
    @Test(arguments: [true, false]) func changesOfOneItemAreMerged(phoneIsFirst: Bool) async throws {
        let phone = try await device(account).started()
        let laptop = try await device(try await secondAccount()).started()
        let both = try await phone.add("both", at: Self.time(0))
        let same = try await phone.add("same", at: Self.time(0))
        for list in [phone, laptop] { _ = try await list.sync() }
        try await phone.setDone(both, at: Self.time(1))
        try await laptop.rename(both, to: "renamed", at: Self.time(2))
        try await phone.rename(same, to: "later", at: Self.time(4))
        try await laptop.rename(same, to: "earlier", at: Self.time(3))
        let order = phoneIsFirst ? [phone, laptop, phone, laptop] : [laptop, phone, laptop, phone]
        for list in order {
            let problems = try await list.sync()
            #expect(problems.isEmpty)
        }
        for list in [phone, laptop] {
            let shown = await titles(list)
            #expect(shown == ["later", "x renamed"])
        }
    }

    @Test func whatIsRemovedGoesUnlessItWasChangedElsewhere() async throws {
        let phone = try await device(account).started()
        let laptop = try await device(try await secondAccount()).started()
        let (gone, kept) = (try await phone.add("gone"), try await phone.add("kept"))
        for list in [phone, laptop] { _ = try await list.sync() }
        for name in [gone, kept] { try await phone.remove(name) }
        try await laptop.setDone(kept)
        for list in [phone, laptop, phone] { _ = try await list.sync() }
        for list in [phone, laptop] {
            let shown = await titles(list)
            #expect(shown == ["x kept"])
        }
    }

    /// The app ends before the engine's newest state was written: what it was told it is told again, what was to be
    /// sent is sent.
    @Test func aDeviceThatStoppedInBetweenLosesNothingAndDoublesNothing() async throws {
        let device = try device(account)
        var phone = try await device.started()
        _ = try await phone.sync()
        let old = try TodoFile.read(device.file).engineState
        try await phone.add("one")
        _ = try await phone.sync()
        try await phone.add("two")
        var file = try TodoFile.read(device.file)
        file.engineState = old
        try file.write(to: device.file)
        phone = try await device.started()
        let problems = try await phone.sync()
        let shown = await titles(phone)
        #expect(problems.isEmpty && shown == ["one", "two"])
        let fresh = try await self.device(try await secondAccount()).started()
        _ = try await fresh.sync()
        let found = await titles(fresh)
        #expect(found == ["one", "two"])
        #expect(try TodoFile.read(device.file).unsent.isEmpty)
    }

    /// What was not sent yet is newer than the end of the list, and makes it anew.
    @Test func aListThatAnotherDeviceThrewAwayGoesButForWhatIsNew() async throws {
        let phone = try await device(account).started()
        try await phone.add("old")
        _ = try await phone.sync()
        let other = try Container("org.example.todo", account: try await secondAccount())
        try await other.privateDatabase.deleteRecordZone(withID: TodoList.zone.zoneID)
        try await phone.add("new")
        _ = try await phone.sync()
        let shown = await titles(phone)
        #expect(shown == ["new"])
        let found = try await other.privateDatabase.recordZoneChanges(inZoneWith: TodoList.zone.zoneID)
        #expect(found.modifications.count == 1)
    }

    /// What was written before the purge was told goes with it; what is written after makes the list again.
    @Test func aListThatWasPurgedIsMadeAgainByWhatIsWrittenAfter() async throws {
        let device = try device(account)
        var phone = try await device.started()
        try await phone.add("old")
        _ = try await phone.sync()
        let other = try Container("org.example.todo", account: try await secondAccount())
        try await other.privateDatabase.deleteRecordZone(withID: TodoList.zone.zoneID, reason: .purged)
        _ = try await phone.sync()
        try await phone.add("milk")
        // The file outlasts the engine's state.
        phone = try await device.started()
        let problems = try await phone.sync()
        let shown = await titles(phone)
        #expect(problems.isEmpty && shown == ["milk"])
        let found = try await other.privateDatabase.recordZoneChanges(inZoneWith: TodoList.zone.zoneID)
        #expect(found.modifications.count == 1)
    }

    /// A save may meet the end of the zone before a fetch tells of it.
    @Test func aListWhoseKeysWereResetComesBackWholeWhereTheSendIsFirst() async throws {
        let phone = try await device(account).started()
        try await phone.add("old")
        _ = try await phone.sync()
        let other = try Container("org.example.todo", account: try await secondAccount())
        try await other.privateDatabase.deleteRecordZone(
            withID: TodoList.zone.zoneID, reason: .encryptedDataReset)
        try await phone.add("new")
        let engine = try #require(await phone.engine)
        try? await engine.sendChanges()
        for _ in 0..<2 { _ = try await phone.sync() }
        let shown = await titles(phone)
        #expect(shown == ["new", "old"])
        let found = try await other.privateDatabase.recordZoneChanges(inZoneWith: TodoList.zone.zoneID)
        #expect(found.modifications.count == 2)
    }

    @Test func theListIsItsAccountsAlone() async throws {
        let device = try device(account)
        var list = try await device.started()
        try await list.add("Ann's")
        _ = try await list.sync()
        // Somebody else signs in on this device.
        let (bob, _) = try await Account.create(transport: HTTPTransport(server: server.origin), deviceName: "phone")
        device.accounts.signIn(bob, trust: try TrustStore())
        list = try await device.started()
        _ = try await list.sync()
        var shown = await titles(list)
        #expect(shown.isEmpty)
        try await list.add("Bob's")
        _ = try await list.sync()
        device.accounts.signOut()
        list = try await device.started()
        await #expect(throws: SealKitError.self) { _ = try await list.sync() }
        shown = await titles(list)
        #expect(shown.isEmpty)
        // Ann's is where it was.
        let anns = try await self.device(account).started()
        _ = try await anns.sync()
        shown = await titles(anns)
        #expect(shown == ["Ann's"])
    }

    /// The command, as the README has it.
    @Test func theTerminalShowsTheSameListOnTwoDevices() async throws {
        let program = ServerProcess.executable.deletingLastPathComponent().appendingPathComponent("todo")
        func todo(_ arguments: [String], on device: String) async throws -> Command {
            try await Command.finished(
                program, arguments + ["--folder", server.folder.appendingPathComponent(device).path])
        }
        let made = try await todo(["login", "--server", server.origin], on: "one")
        #expect(made.status == 0, "\(made.errors)")
        for arguments in [["add", "Water the tomatoes"], ["add", "Buy beans"], ["done", "1"]] {
            let done = try await todo(arguments, on: "one")
            #expect(done.status == 0 && done.output.isEmpty, "\(done)")
        }
        let shown = try await todo(["list"], on: "one")
        #expect(shown.output == "1  [ ] Water the tomatoes\n2  [x] Buy beans\n")
        let missing = try await todo(["remove", "7"], on: "one")
        #expect(missing.status != 0 && missing.errors.contains("There is no number 7"))
        let out = try await todo(["logout"], on: "one")
        let empty = try await todo(["list"], on: "one")
        #expect(out.status == 0 && empty.output == "nothing to do\n", "\(out)")
    }
}

extension ServerProcess {
    /// What lies in the server's folder.
    fileprivate var everything: Data {
        var all = Data()
        let files = FileManager.default.enumerator(at: dataFolder, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL { if let bytes = try? Data(contentsOf: file) { all += bytes } }
        return all
    }
}

extension Data {
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
