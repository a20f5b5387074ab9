import ArgumentParser
import Foundation
import SealKit

/// How commands that need no account find the server and what lets them in.
struct ManagementOptions: ParsableArguments {
    @Option(help: "The server's address: https://host[:port]. Plain http for this machine only.")
    var server: String

    @Option(
        help: ArgumentHelp(
            "File with a management token: the operator's lies in the server's secrets folder. Default: $SEALKIT_MANAGEMENT_TOKEN.",
            valueName: "file"), completion: .file())
    var managementTokenFile: String?

    func token() throws(SealKitError) -> ManagementToken {
        if let managementTokenFile {
            guard let data = try GivenFile.contents(of: managementTokenFile),
                let text = String(validating: data.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
            else {
                throw SealKitError(
                    .invalidArguments, "there is no management token to read at \(managementTokenFile)",
                    remedy: "check --management-token-file, and that you may read the file")
            }
            return try ManagementToken(text)
        }
        guard let text = ProcessInfo.processInfo.environment["SEALKIT_MANAGEMENT_TOKEN"], !text.isEmpty else {
            throw SealKitError(
                .notAuthenticated, "this needs a management token",
                remedy: "give --management-token-file or set SEALKIT_MANAGEMENT_TOKEN")
        }
        return try ManagementToken(text)
    }
}

/// A command that manages one container.
protocol ManagementCommand: ClientCommand {
    var management: ManagementOptions { get }
    func run(_ container: ContainerManagement) async throws
}

extension ManagementCommand {
    func run() async throws {
        try await run(
            ContainerManagement(
                global.containerIdentifier, token: try management.token(),
                transport: try global.transport(server: management.server)))
    }
}

/// A command that works with the operator's token.
protocol OperatorCommand: ClientCommand {
    var management: ManagementOptions { get }
    func run(_ tokens: ManagementTokens) async throws
}

extension OperatorCommand {
    func run() async throws {
        try await run(
            ManagementTokens(
                operatorToken: try management.token(), transport: try global.transport(server: management.server)))
    }
}
