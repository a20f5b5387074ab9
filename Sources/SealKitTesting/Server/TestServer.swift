public import Foundation
public import SealKit
import SealLab
public import SealServer
import SealService
import Synchronization

/// A whole SealKit server in the process of a test: the real one, on a temporary folder, without a socket.
///
/// <!-- swift: import Testing; struct NotesModel { init(container: Container) {} } -->
/// ```swift
/// @Test func notesReachTheOtherDevice() async throws {
///     try await TestServer.run { server in
///         let alice = try await server.account(named: "alice")
///         let notes = NotesModel(container: alice.container)
///         …
///     }
/// }
/// ```
/// Its origin is of no network: `https://….sealkit.test`. Whatever waits, for a retry or for what the server asks it
/// to, waits in no time. Requests are not counted, and no quota is smaller than a server's own default.
public final class TestServer: Sendable {
    /// Of containers where a test names no other: see ``run(container:configure:isolation:_:)``.
    public static let defaultContainer = "org.example.app"

    /// Scheme and host, as share URLs have them.
    public var origin: String { host.origin }
    /// The app's container.
    public let containerIdentifier: String
    let host: LocalHost

    /// Tests begin by the hundred; as many servers would be a thousand threads, and more open files than a process has.
    private static let places = Turnstile(atOnce: 16)
    /// A test with two servers waits for a place once.
    @TaskLocal private static var hasPlace = false

    private let snapshots = Mutex<[ServerSnapshot]>([])
    private let addresses = Mutex(0)

    /// Starts a server, runs a test against it, and removes it and its folder, also where the test throws. Where many
    /// tests begin at once, sixteen of them have their servers at a time.
    /// - Parameters:
    ///   - container: the app's container.
    ///   - configure: changes limits, quotas, who may make an account. Folders, origin and listener are the test
    ///     server's.
    ///   - isolation: whose the test is.
    ///   - body: the test.
    /// - Returns: what the test gives.
    /// - Throws: what `body` throws; `ConfigurationError` and what else keeps a server from starting.
    public static func run<Value>(
        container: String = TestServer.defaultContainer,
        configure: @Sendable (inout ServerConfiguration) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: (TestServer) async throws -> Value
    ) async throws -> Value {
        if hasPlace { return try await serve(container, configure, isolation: isolation, body) }
        await places.enter()
        defer { places.leave() }
        return try await $hasPlace.withValue(true) {
            try await serve(container, configure, isolation: isolation, body)
        }
    }

    private static func serve<Value>(
        _ container: String, _ configure: @Sendable (inout ServerConfiguration) -> Void,
        isolation: isolated (any Actor)?, _ body: (TestServer) async throws -> Value
    ) async throws -> Value {
        let server = try await TestServer(container: container, configure: configure)
        do {
            let value = try await body(server)
            await server.stop()
            return value
        } catch {
            await server.stop()
            throw error
        }
    }

    /// A server that is there until ``stop()``, for a suite that keeps one.
    /// - Parameters:
    ///   - container: the app's container.
    ///   - configure: as for ``run(container:configure:isolation:_:)``.
    public init(
        container: String = TestServer.defaultContainer,
        configure: @Sendable (inout ServerConfiguration) -> Void = { _ in }
    ) async throws {
        let folder = try TestFolder()
        var configuration = ServerConfiguration(dataFolder: folder.url.path, logLevel: .error, logFormat: .text)
        configuration.limits = .uncounted
        configure(&configuration)
        containerIdentifier = container
        let name = UUID().uuidString.prefix(8).lowercased()
        host = try await LocalHost(
            configuration, origin: "https://\(name).sealkit.test", folder: folder, clock: TestClock(), mail: Postbox(),
            texts: Postbox())
    }

    /// Ends it, its snapshots, and every stream that is open, and removes its folder. What is asked of it from now on
    /// fails with `networkFailure`.
    public func stop() async {
        let snapshots = snapshots.withLock { snapshots in
            defer { snapshots = [] }
            return snapshots
        }
        for snapshot in snapshots { await snapshot.host.stop() }
        await host.stop()
    }

    // MARK: People

    /// Makes an account, and signs it in on a device of its own.
    /// - Parameter name: for the test to tell people apart; the device is called so too.
    /// - Throws: as `Account.create`.
    public func account(named name: String) async throws(SealKitError) -> TestDevice {
        let (store, trust, network) = (MemoryKeyStore(), try TrustStore(), network())
        let (account, recoveryKey) = try await Account.create(
            transport: network, pacing: host.clock.pacing, deviceName: name, trust: trust, in: store)
        return try await TestDevice(
            name, server: self, account: account, keyStore: store, trust: trust, network: network,
            recoveryKey: recoveryKey)
    }

    /// A way to the server with nobody behind it yet: for an app's own sign-up, or for reading the public database.
    public func network() -> TestNetwork {
        // Each is another client to the server, of 10.0.0.0/8.
        let number = addresses.withLock { last in
            last += 1
            return last
        }
        return TestNetwork(host.transport(from: "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"))
    }

    /// What the server has sent to a mail address or phone number.
    /// - Parameter address: as it was given to the server.
    public func mailbox(for address: String) -> Mailbox {
        let host = host
        return Mailbox(address, address.contains("@") ? host.mail : host.texts) { host.isSending }
    }

    /// The operator's view of the app's container: its schema and roles.
    public func management() throws -> ContainerManagement {
        try ContainerManagement(
            containerIdentifier, token: ManagementToken(host.operatorToken()), transport: network())
    }

    // MARK: What it has

    /// Where its data and secrets are until it stops.
    public var folder: URL { host.folderURL }

    /// Whether a text is in any value of its database, or anywhere in its files, which are its journal, its assets and
    /// its secrets too: what an app seals is not.
    /// - Throws: `networkFailure` once the server has stopped; what keeps a file from being read.
    public func holds(_ text: String) throws -> Bool {
        if try host.running().databaseHolds(text) { return true }
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        while let file = files?.nextObject() as? URL {
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
            if try Data(contentsOf: file).range(of: Data(text.utf8)) != nil { return true }
        }
        return false
    }

    // MARK: Time

    /// Lets time pass on the server, and clears away what is due by then: codes and invitations expire, deletions leave
    /// the feeds, and what was counted is forgiven. A device's own clock stays the machine's.
    public func advance(by duration: Duration) async throws {
        host.clock.skip(duration)
        try await host.running().sweep()
    }

    /// All that the server has now, for ``ServerFault/rollback(to:)`` and the faults that show one record as it was.
    public func snapshot() async throws -> ServerSnapshot {
        let snapshot = ServerSnapshot(try await host.copy())
        snapshots.withLock { $0.append(snapshot) }
        return snapshot
    }
}

extension ServerLimits {
    /// No rates, and no budget: a test's machine may be busy.
    fileprivate static var uncounted: ServerLimits {
        var limits = ServerLimits()
        (limits.requestRate, limits.writeRate, limits.readRate) = (0, 0, 0)
        (limits.sharingRate, limits.anonymousRate, limits.writeBudget) = (0, 0, 0)
        return limits
    }
}
