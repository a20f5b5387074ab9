import ArgumentParser
import Foundation
import SealServer

/// The command line: a thin face of the SDK, and the server.
@main
struct SealKitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sealkit",
        abstract: "End-to-end-encrypted records with sharing: a client, and the server to keep them.",
        discussion: """
            A first walk, on one machine:

              sealkit serve --data ./data --listen 127.0.0.1:8080
              sealkit account create --server http://127.0.0.1:8080
              sealkit zone create Notes
              sealkit record save --zone Notes --type Note --name first --seal title="For me"
              sealkit record get first --zone Notes

            Every command explains itself: sealkit help record save

            \(ExitStatus.help)
            """,
        // An archive that is none is told of by whoever serves it.
        version: "\(ServerVersion.current)\n\(WebBundle.description(of: try? WebBundle.builtHash()))",
        subcommands: [
            AccountCommand.self, DeviceCommand.self, ZoneCommand.self, RecordCommand.self, ShareCommand.self,
            ContactCommand.self, AuditCommand.self, WebCommand.self,
            SubscriptionCommand.self, WatchCommand.self,
            ExportCommand.self, DataCommand.self, SchemaCommand.self, ManagementTokenCommand.self,
            ServerKeyCommand.self,
            ServeCommand.self, AdminCommand.self, TelemetryCommand.self, LogsCommand.self, EventsCommand.self,
            AlertsCommand.self,
            BackupCommand.self, RestoreCommand.self, CheckCommand.self, MigrateStorageCommand.self,
            VectorsCommand.self, OldKeyCommand.self,
        ])

    static func main() async {
        StandardStream.holdNumbers()
        var isJSON = CommandLine.arguments.contains("--json")
        var global: GlobalOptions?
        do {
            try Arguments.check()
            let command = try parseAsRoot()
            isJSON = (command as? any SpeakingCommand)?.isJSON ?? false
            global = (command as? any ClientCommand)?.global
            try await run(command)
            TrustFiles.closeAll()
        } catch {
            TrustFiles.closeAll()
            Failure(error, of: global).exit(asJSON: isJSON)
        }
    }

    private static func run(_ command: sending any ParsableCommand) async throws {
        // What was mistyped would be passed over, and another account or authority be used than was meant. The server
        // looks by itself.
        if !(command is ServeCommand) {
            try ServerConfiguration.requireKnownToClients(ProcessInfo.processInfo.environment)
        }
        try (command as? any ClientCommand)?.global.check()
        guard var asynchronous = command as? any AsyncParsableCommand else {
            var command = command
            return try command.run()
        }
        // The server looks after signals itself.
        guard !(command is ServeCommand) else { return try await asynchronous.run() }
        try await Interruption.cancelling { try await asynchronous.run() }
    }
}
