import ArgumentParser
import Foundation
import SealKit
import TodoList

@main
struct Todo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "todo",
        abstract: "A to-do list on all of a person's devices, which no server can read.",
        discussion: """
              todo login --server http://127.0.0.1:8080
              todo add "Water the tomatoes"
              todo list

            A second device has a folder of its own, and the account's recovery key:

              todo login --server http://127.0.0.1:8080 --recover --folder other
              todo watch --folder other
            """,
        subcommands: [
            Login.self, Logout.self, Add.self, List.self, Done.self, Rename.self, Remove.self, Sync.self, Watch.self,
        ])
}

/// Where a device keeps its account, what it has verified, and the list.
struct Device: ParsableArguments {
    @Option(help: ArgumentHelp("Where this device keeps everything. Default: ~/.todo.", valueName: "folder"))
    var folder = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".todo").path

    private var url: URL { URL(fileURLWithPath: folder) }
    var keys: FileKeyStore { FileKeyStore(file: url.appendingPathComponent("account.json")) }
    func trust() throws -> TrustStore { try TrustStore(file: url.appendingPathComponent("account.json.trust")) }

    func make() throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func list() throws -> TodoList {
        try make()
        return try TodoList(file: url.appendingPathComponent("todos.json"))
    }

    /// Of whoever is signed in on this device. Where that is nobody, the engine is told so, and not only nothing.
    func container() async throws -> Container {
        let accounts = AccountProvider()
        try await accounts.signIn(from: keys, trust: try trust())
        return try Container("org.example.todo", accounts: accounts)
    }

    /// Changes the list, and brings it to the other devices: now, or when there is a network again.
    func change(_ edit: (TodoList) async throws -> Void) async throws {
        let list = try list()
        try await edit(list)
        do { try await sync(list) } catch let error as SealKitError {
            switch error.code {
            case .notAuthenticated: print("kept on this device: nobody is signed in")
            default: print("kept on this device, and sent with the next sync: \(error.reason)")
            }
        }
    }

    func sync(_ list: TodoList) async throws {
        try await list.start(try await container(), automatically: false)
        for problem in try await list.sync() { print("! \(problem)") }
    }
}

/// What people see of an item.
extension TodoList {
    func show() {
        let items = items
        if items.isEmpty { print("nothing to do") }
        for (number, one) in items.enumerated() {
            print("\(number + 1)  [\(one.item.isDone.value ? "x" : " ")] \(one.item.title.value)")
        }
    }

    /// - Parameter number: as `show` prints it.
    func name(of number: Int) throws -> String {
        guard items.indices.contains(number - 1) else {
            throw ValidationError("There is no number \(number): see todo list.")
        }
        return items[number - 1].name
    }
}

// MARK: Account

struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make an account, or bring one to this device.")

    @OptionGroup var device: Device

    @Option(help: "The server's address: https://host[:port].")
    var server: String

    @Flag(help: "An account that there is: its recovery key is read from standard input.")
    var recover = false

    func run() async throws {
        try device.make()
        let transport = try HTTPTransport(server: server)
        if recover {
            print("Recovery key: ", terminator: "")
            _ = try await Account.recover(
                try RecoveryKey(text: readLine() ?? ""), transport: transport, trust: try device.trust(),
                in: device.keys)
        } else {
            let (_, recoveryKey) = try await Account.create(
                transport: transport, trust: try device.trust(), in: device.keys)
            print(
                "The recovery key is shown this once. It brings the account to other devices, and back where all are lost:"
            )
            print(recoveryKey.text())
        }
        // What was written before anybody was signed in goes to the account.
        try await device.sync(try device.list())
    }
}

struct Logout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Take the account and its list off this device.")

    @OptionGroup var device: Device

    func run() async throws {
        try await device.keys.delete()
        // Nobody is signed in any more: the engine says so, and the list goes.
        let list = try device.list()
        do { try await device.sync(list) } catch let error as SealKitError where error.code == .notAuthenticated {
            print("signed out")
        } catch {
            throw error
        }
    }
}

// MARK: Items

struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Add something to do.")
    @OptionGroup var device: Device
    @Argument var title: String

    func run() async throws { try await device.change { try await $0.add(title) } }
}

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the list as this device has it, without a network.")
    @OptionGroup var device: Device

    func run() async throws { try await device.list().show() }
}

struct Done: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Tick something off.")
    @OptionGroup var device: Device
    @Argument(help: "Its number, as `todo list` shows it.") var number: Int
    @Flag(help: "It is to be done again.") var undo = false

    func run() async throws { try await device.change { try await $0.setDone($0.name(of: number), !undo) } }
}

struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Say it otherwise.")
    @OptionGroup var device: Device
    @Argument(help: "Its number, as `todo list` shows it.") var number: Int
    @Argument var title: String

    func run() async throws { try await device.change { try await $0.rename($0.name(of: number), to: title) } }
}

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Take something off the list, on every device.")
    @OptionGroup var device: Device
    @Argument(help: "Its number, as `todo list` shows it.") var number: Int

    func run() async throws { try await device.change { try await $0.remove($0.name(of: number)) } }
}

// MARK: Syncing

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring this device and the others to the same list, and show it.")
    @OptionGroup var device: Device

    func run() async throws {
        let list = try device.list()
        try await device.sync(list)
        await list.show()
    }
}

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the list, again whenever it changes, until ^C.")
    @OptionGroup var device: Device

    func run() async throws {
        let list = try device.list()
        let changes = await list.changes()
        // From here on the engine fetches and sends by itself, as the server tells of changes.
        try await list.start(try await device.container(), automatically: true)
        await show(list)
        for await _ in changes {
            print("")
            for problem in await list.takeProblems() { print("! \(problem)") }
            await show(list)
        }
    }

    private func show(_ list: TodoList) async {
        await list.show()
        // A pipe or a file is to have each change when it comes, as a terminal does.
        fflush(nil)
    }
}
