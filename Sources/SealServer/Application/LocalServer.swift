import Foundation
package import Hummingbird
import Logging
package import NIOCore
package import SealService
import SealStorage
import ServiceLifecycle
import Synchronization

/// A server that listens nowhere: this process hands requests to its router. It behaves as one behind a proxy, which
/// notes in `X-Forwarded-For` who the client is.
package final class LocalServer: Sendable {
    private let opened: OpenedServer
    private let respond: @Sendable (Request, SealRequestContext) async throws -> Response
    private let channel: any Channel
    private let group: ServiceGroup
    private let running: Task<Void, Never>

    /// Opens everything, and begins what is done beside requests.
    ///
    /// Throws `ConfigurationError`, `DataFolderInUse`, `FileError`, `BlobStoreError`, or the database's error.
    /// - Parameters:
    ///   - configuration: of a server behind a proxy, with the origin that its clients use.
    ///   - clock: microseconds since 1970.
    ///   - messengers: what codes are sent by, in the place of relays.
    ///   - channel: stands for every connection; it is asked for nothing but its address, and closed for slow clients.
    package init(
        configuration: ServerConfiguration, clock: @escaping @Sendable () -> Int64,
        messengers: [Address.Kind: any Messenger], channel: any Channel
    ) async throws {
        var configuration = configuration
        // Nobody asks such a server for it.
        configuration.telemetry = .off
        try configuration.validate()
        let logger = Server.logger(configuration)
        opened = try await OpenedServer(
            configuration, webBundle: try WebBundle.built(), logger: logger, metrics: [],
            replacing: ServiceReplacements(clock: clock, messengers: messengers))
        let services = opened.services
        do {
            let responder = try Server.responder(services)
            respond = { try await responder.respond(to: $0, context: $1) }
        } catch {
            await opened.close()
            throw error
        }
        self.channel = channel
        // The last one is told to stop first.
        var beside: [any Service] = [services.jobs]
        beside += Server.beside(services) + [PushService(streams: services.streams)]
        let group = ServiceGroup(services: beside, logger: logger)
        self.group = group
        services.jobs.begin()
        running = Task.detached {
            do { try await group.run() } catch {
                services.logger.error("what the server does beside requests ended", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Answers a request. Its sender may give up: what the server does goes on, as behind a socket.
    package func answer(_ request: Request) async throws -> Response {
        // As Hummingbird numbers what comes over a socket.
        var logger = opened.services.logger
        logger[metadataKey: "hb.request.id"] = .stringConvertible(RequestID())
        var context = SealRequestContext(source: .init(channel: channel, logger: logger))
        context.hasConnection = false
        return try await respond(request, context)
    }

    /// Whether a message that was asked for is not sent yet.
    package var isSending: Bool { opened.services.outbox.count > 0 }

    /// Clears away what is due by the server's clock, and waits for it.
    package func sweep() async throws {
        for job in [Job.Name.erasure, .sweep, .garbage] { try await opened.services.jobs.run(job) }
    }

    /// Whether a text is in a value of the database. In its file a value of more than a page is cut, with numbers where
    /// one part follows another.
    /// - Throws: `FileError`, `StorageError`.
    package func databaseHolds(_ text: String) throws -> Bool {
        let file = try SQLiteFile(reading: opened.services.configuration.dataFolder + "/" + SQLiteDatabase.fileName)
        defer { file.close() }
        return try file.read { connection in
            // An index of words has none of them: its texts are where it finds them.
            for table in try connection.tables() where table != "search_term" {
                let isIn = try connection.columns(of: table).map { "instr(CAST(\"\($0.name)\" AS BLOB), $1) > 0" }
                let query = "SELECT 1 FROM \"\(table)\" WHERE \(isIn.joined(separator: " OR "))"
                if try connection.exists(query, [.blob(Array(text.utf8))]) { return true }
            }
            return false
        }
    }

    /// Copies data and secrets as they are between two writes.
    /// - Parameters:
    ///   - data: where there is nothing yet.
    ///   - secrets: likewise.
    /// - Throws: `CocoaError` for what is there, and for what cannot be read or written.
    package func copy(data: String, secrets: String) async throws {
        let configuration = opened.services.configuration
        guard !FileManager.default.fileExists(atPath: data) else { throw CocoaError(.fileWriteFileExists) }
        try await opened.services.database.write(at: .everything) { _ in
            // The writer is this closure's: nothing is written meanwhile, nor moved from the journal into the database.
            // A transaction that is run again finds what it left the time before.
            if FileManager.default.fileExists(atPath: data) { try FileManager.default.removeItem(atPath: data) }
            try FileManager.default.copyItem(atPath: configuration.dataFolder, toPath: data)
        }
        try FileManager.default.copyItem(atPath: configuration.secretsFolder, toPath: secrets)
    }

    /// Ends event streams and what is done beside requests, and closes the data folder.
    package func stop() async {
        await group.triggerGracefulShutdown()
        await running.value
        await opened.close()
    }
}
