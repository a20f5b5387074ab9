import ArgumentParser
import Foundation
import SealKit
import SealServer

/// How commands find the operator's listener of a server that runs, and what lets them in.
struct OperatorOptions: ParsableArguments {
    /// On this machine: address and token are found there.
    @OptionGroup var places: ServerPlacesOptions

    @Option(
        help: ArgumentHelp(
            "The address of the operator's listener. Plain http for this machine only. Default: as --data says.",
            valueName: "url"))
    var at: String?

    @Option(
        help: ArgumentHelp(
            "File with the operator's token. Default: $SEALKIT_OPERATOR_TOKEN, else operator.token in the secrets folder.",
            valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "PEM file of an authority to trust besides the system's. Default: $SEALKIT_CA_FILE.", valueName: "file"),
        completion: .file())
    var caFile: String?

    @Flag(help: "Print one JSON object a line, and errors as JSON on standard error.")
    var json = false

    @Flag(help: "Print the bare result only.")
    var quiet = false

    var output: Output { Output(isJSON: json, isQuiet: quiet) }

    func server() throws -> ServerOperator {
        let url = try address()
        var configuration = HTTPTransport.Configuration()
        configuration.certificateAuthorityFile = caFile ?? GlobalOptions.variable("SEALKIT_CA_FILE")
        if let file = configuration.certificateAuthorityFile, !FileManager.default.isReadableFile(atPath: file) {
            throw SealKitError(
                .invalidArguments, "there is no certificate file to read at \(file)", remedy: "check --ca-file")
        }
        return ServerOperator(
            token: try token(), transport: try HTTPTransport(server: url, configuration: configuration))
    }

    private func address() throws -> String {
        if let at { return at }
        let folder = try named {
            try ServerConfiguration.dataFolder(
                data: places.data, environment: ProcessInfo.processInfo.environment, file: places.config)
        }
        guard let folder else {
            throw Failure.Local(
                status: .badInput, reason: "no server was named",
                remedy: "give the --data or --config that the server runs with, or --at with its operator's listener")
        }
        do { return try OperatorPlace.url(dataFolder: folder) } catch let error as OperatorPlaceError {
            throw Failure.Local(
                status: .network, reason: error.description,
                remedy: "start it with --operator 127.0.0.1:8090 (sealkit help serve), or name another folder")
        } catch {
            throw Failure.Local(status: .badInput, reason: "\(error)", remedy: Self.asItsUser)
        }
    }

    private func token() throws -> OperatorToken {
        if let tokenFile { return try OperatorToken(try Self.line(of: tokenFile, remedy: "check --token-file")) }
        if let text = GlobalOptions.variable("SEALKIT_OPERATOR_TOKEN") { return try OperatorToken(text) }
        let folder = try named {
            try ServerConfiguration.secretsFolder(
                data: places.data, secrets: places.secrets, environment: ProcessInfo.processInfo.environment,
                file: places.config)
        }
        guard let folder else {
            throw SealKitError(
                .notAuthenticated, "this needs the operator's token",
                remedy: "give --token-file, set SEALKIT_OPERATOR_TOKEN, or name the server's --data or --secrets")
        }
        return try OperatorToken(try Self.line(of: folder + "/operator.token", remedy: Self.asItsUser))
    }

    private static let asItsUser = "run this as the user that the server runs as, or as root"

    private static func line(of file: String, remedy: String) throws(SealKitError) -> String {
        guard let data = try GivenFile.contents(of: file),
            let text = String(validating: data.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        else {
            throw SealKitError(
                .notAuthenticated, "there is no operator's token to read at \(file)", remedy: remedy)
        }
        return text
    }

    /// What is wrong with a settings file is bad input.
    private func named(_ body: () throws -> String?) throws -> String? {
        do { return try body() } catch let error as ConfigurationError { throw error } catch {
            throw Failure.Local(status: .badInput, reason: "\(error)")
        }
    }
}

/// A command that asks a running server in its operator's name.
protocol AdministeringCommand: SpeakingCommand {
    var options: OperatorOptions { get }
    func run(_ server: ServerOperator) async throws
}

extension AdministeringCommand {
    var isJSON: Bool { options.json }
    var output: Output { options.output }

    func run() async throws {
        do { try await run(try options.server()) } catch let error as SealKitError {
            guard error.code == .networkFailure || error.code == .networkUnavailable else { throw error }
            throw SealKitError(
                error.code, error.reason,
                remedy: "check that the server runs, and that this is its --operator address",
                retryAfter: error.retryAfter)
        }
    }
}
