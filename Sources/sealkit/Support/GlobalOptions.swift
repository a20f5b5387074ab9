import ArgumentParser
import Foundation
import SealKit

/// Options that every client command takes.
struct GlobalOptions: ParsableArguments {
    @Option(help: ArgumentHelp(
        "The account's key file. Default: $SEALKIT_KEY_FILE, or ~/.config/sealkit/account.json. What this device has verified is kept beside it, in <key file>.trust.",
        valueName: "file"))
    var keyFile: String?

    @Option(help: "The app whose data this is. Default: $SEALKIT_CONTAINER, or org.sealkit.notes.")
    var container: String?

    @Option(help: "development, where record types appear on first save, or production, which knows what was deployed. Two separate sets of data.")
    var environment: EnvironmentName = .development

    @Option(help: ArgumentHelp("PEM file of an authority to trust besides the system's. Default: $SEALKIT_CA_FILE.", valueName: "file"))
    var caFile: String?

    @Option(help: ArgumentHelp("File with the key file's passphrase. Without one: $SEALKIT_PASSPHRASE, else the terminal.", valueName: "file"))
    var passphraseFile: String?

    @Option(help: ArgumentHelp("Open file descriptor to read the passphrase from.", valueName: "number"))
    var passphraseFd: Int32?

    @Flag(help: "Print one JSON object a line, and errors as JSON on standard error.")
    var json = false

    @Flag(help: "Print the bare result only.")
    var quiet = false

    enum EnvironmentName: String, ExpressibleByArgument, CaseIterable {
        case development, production
    }

    var output: Output { Output(isJSON: json, isQuiet: quiet) }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    var keyFileURL: URL {
        if let path = keyFile ?? Self.variable("SEALKIT_KEY_FILE") { return URL(fileURLWithPath: path) }
        // $HOME first, as shells and other tools have it; Foundation knows the password database's folder only.
        let home = Self.variable("HOME").map { URL(fileURLWithPath: $0) } ?? FileManager.default.homeDirectoryForCurrentUser
        return home.appendingPathComponent(".config/sealkit/account.json")
    }

    var containerIdentifier: String { container ?? Self.variable("SEALKIT_CONTAINER") ?? "org.sealkit.notes" }

    func transport(server: String) throws(SealKitError) -> HTTPTransport {
        var configuration = HTTPTransport.Configuration()
        configuration.certificateAuthorityFile = caFile ?? Self.variable("SEALKIT_CA_FILE")
        if let file = configuration.certificateAuthorityFile, !FileManager.default.isReadableFile(atPath: file) {
            throw SealKitError(.invalidArguments, "there is no certificate file to read at \(file)", remedy: "check --ca-file")
        }
        return try HTTPTransport(server: server, configuration: configuration)
    }

    func makeContainer(_ account: Account, trust: TrustStore? = nil) throws(SealKitError) -> Container {
        try Container(
            containerIdentifier, environment: environment == .production ? .production : .development, account: account,
            trust: trust)
    }

    /// The passphrase as it was given without asking: by file, descriptor or environment.
    func givenPassphrase() throws(SealKitError) -> String? {
        if let passphraseFile {
            guard let data = FileManager.default.contents(atPath: passphraseFile) else {
                throw SealKitError(.invalidArguments, "there is no passphrase file to read at \(passphraseFile)")
            }
            return try Self.firstLine(data)
        }
        if let passphraseFd {
            guard let data = try? FileHandle(fileDescriptor: passphraseFd, closeOnDealloc: false).readToEnd() else {
                throw SealKitError(.invalidArguments, "no passphrase can be read from descriptor \(passphraseFd)")
            }
            return try Self.firstLine(data)
        }
        return Self.variable("SEALKIT_PASSPHRASE")
    }

    private static func firstLine(_ data: Data) throws(SealKitError) -> String {
        let line = data.prefix { $0 != 0x0A && $0 != 0x0D }
        guard let text = String(validating: line, as: UTF8.self), !text.isEmpty else {
            throw SealKitError(.invalidArguments, "the passphrase's first line is empty, or not UTF-8")
        }
        return text
    }
}
