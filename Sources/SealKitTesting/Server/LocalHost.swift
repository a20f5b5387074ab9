import Foundation
import NIOCore
import NIOEmbedded
import SealKit
import SealServer
import SealService
import Synchronization

/// A server of this process with its folder: there from its making to `stop()`.
final class LocalHost: Sendable {
    let origin: String
    let clock: TestClock
    let mail: Postbox
    let texts: Postbox
    private let configuration: ServerConfiguration
    private let folder: TestFolder
    /// Nil once it has stopped.
    private let server: Mutex<LocalServer?>

    /// - Parameters:
    ///   - configuration: where its folders are is set here.
    ///   - folder: with a server's data, or empty.
    init(
        _ configuration: ServerConfiguration, origin: String, folder: TestFolder, clock: TestClock, mail: Postbox,
        texts: Postbox
    ) async throws {
        var configuration = configuration
        configuration.dataFolder = Self.data(in: folder)
        configuration.secretsFolder = Self.secrets(in: folder)
        configuration.publicOrigin = origin
        configuration.isBehindProxy = true
        (self.origin, self.clock, self.mail, self.texts) = (origin, clock, mail, texts)
        (self.configuration, self.folder) = (configuration, folder)
        let made = try await LocalServer(
            configuration: configuration, clock: { clock.now }, messengers: [.email: mail, .phone: texts],
            channel: NIOAsyncTestingChannel())
        server = Mutex(made)
    }

    private static func data(in folder: TestFolder) -> String { folder.url.appendingPathComponent("data").path }
    private static func secrets(in folder: TestFolder) -> String { folder.url.appendingPathComponent("secrets").path }

    /// - Throws: `networkFailure` once it has stopped.
    func running() throws(SealKitError) -> LocalServer {
        guard let server = server.withLock({ $0 }) else {
            throw SealKitError(.networkFailure, "the test server has stopped", remedy: "keep it for the whole test")
        }
        return server
    }

    var isSending: Bool { (try? running())?.isSending ?? false }

    var folderURL: URL { folder.url }

    /// The operator's management token.
    func operatorToken() throws -> String {
        let file = URL(fileURLWithPath: configuration.secretsFolder).appendingPathComponent("management.token")
        return try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The same server as it is now, in a folder of its own.
    func copy() async throws -> LocalHost {
        let folder = try TestFolder()
        try await running().copy(data: Self.data(in: folder), secrets: Self.secrets(in: folder))
        return try await LocalHost(
            configuration, origin: origin, folder: folder, clock: clock, mail: mail, texts: texts)
    }

    /// - Parameter address: the client's, as a proxy notes it.
    func transport(from address: String) -> any Transport {
        LocalTransport(origin: origin, address: address) { () throws(SealKitError) in try self.running() }
    }

    func stop() async {
        let running = server.withLock { server in
            defer { server = nil }
            return server
        }
        await running?.stop()
        folder.remove()
    }

    deinit {
        // Nobody has stopped it: what it does beside requests would go on, in a folder that is gone.
        guard let running = server.withLock({ $0 }) else { return }
        let folder = folder
        Task {
            await running.stop()
            folder.remove()
        }
    }
}
