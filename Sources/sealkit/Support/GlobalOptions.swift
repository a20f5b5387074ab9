import ArgumentParser
import Foundation
import SealKit

/// Options that every client command takes.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The account's key file, in the place of --account. Default: $SEALKIT_KEY_FILE. What this device has verified is kept beside it, in <key file>.trust.",
            valueName: "file"), completion: .file())
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "One of this machine's accounts, in ~/.config/sealkit. Default: $SEALKIT_ACCOUNT, or the one in use (sealkit account use).",
            valueName: "name"))
    var account: String?

    @Option(help: "The app whose data this is. Default: $SEALKIT_CONTAINER, or org.sealkit.notes.")
    var container: String?

    @Option(
        name: .customLong("environment"),
        help:
            "development, where record types appear on first save, or production, which knows what was deployed. Two separate sets of data. Default: $SEALKIT_ENVIRONMENT, or development."
    )
    var givenEnvironment: EnvironmentName?

    @Option(
        help: ArgumentHelp(
            "PEM file of an authority to trust besides the system's. Default: $SEALKIT_CA_FILE.", valueName: "file"),
        completion: .file())
    var caFile: String?

    @Option(
        help: ArgumentHelp(
            "File with the key file's passphrase. Without one: $SEALKIT_PASSPHRASE, else the terminal.",
            valueName: "file"), completion: .file())
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

    static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    static var accounts: AccountFolder {
        // $HOME first, as shells and other tools have it; Foundation knows the password database's folder only.
        AccountFolder(
            home: variable("HOME").map { URL(fileURLWithPath: $0) } ?? FileManager.default.homeDirectoryForCurrentUser)
    }

    func validate() throws {
        if keyFile != nil, account != nil {
            throw ValidationError("--key-file and --account name two accounts: give one of them.")
        }
    }

    /// Refuses what `validate` cannot: the parser gives errors of its own alone their exit codes and remedies.
    func check() throws(SealKitError) {
        _ = try accountFile()
        _ = try chosenEnvironment()
    }

    var keyFileURL: URL {
        // What cannot be found out was refused before the command ran.
        (try? accountFile()) ?? Self.accounts.keyFile(AccountFolder.defaultName)
    }

    /// What its user calls the account: its name on this machine, or its key file.
    var accountLabel: String {
        let (folder, file) = (Self.accounts, keyFileURL)
        return folder.names().first { folder.keyFile($0).path == file.path } ?? file.path
    }

    /// As the command began, and for all of it: another one may choose another account meanwhile.
    private static let inUse = Result { () throws(SealKitError) in try accounts.current() }

    private func accountFile() throws(SealKitError) -> URL {
        if let keyFile { return URL(fileURLWithPath: keyFile) }
        if account == nil, let path = Self.variable("SEALKIT_KEY_FILE") { return URL(fileURLWithPath: path) }
        let name: String
        if let given = account ?? Self.variable("SEALKIT_ACCOUNT") {
            name = given
        } else {
            name = try Self.inUse.get()
        }
        try AccountFolder.check(name)
        return Self.accounts.keyFile(name)
    }

    /// The key file, opened by the passphrase that the options give, or by one that is asked for.
    var keyStore: FileKeyStore {
        let (source, file) = (passphraseSource, keyFileURL)
        return FileKeyStore(file: file) { () throws(SealKitError) in
            if let given = try source.given() { return given }
            return try Prompt.secret("Passphrase of \(file.path): ", remedy: source.remedy)
        }
    }

    /// Whether the key file has an account whose making was cut off, and goes on with the same command alone.
    var hasUnfinishedAccount: Bool { (try? KeyFile(contentsOf: keyFileURL))?.isUnfinished == true }

    /// Why there is no account to use.
    var noKeyFile: SealKitError {
        if hasUnfinishedAccount {
            return SealKitError(
                .notAuthenticated, "the account at \(keyFileURL.path) was begun, and its making did not come to an end",
                remedy: "go on with sealkit account create, with the same server and code")
        }
        let others = keyFile == nil && !Self.accounts.names().isEmpty
        return SealKitError(
            .notAuthenticated, "there is no key file at \(keyFileURL.path)",
            remedy: others
                ? "sealkit account list shows the accounts of this machine: choose one with sealkit account use, or name it with --account"
                : "make an account first, or name its key file")
    }

    private var passphraseSource: PassphraseSource {
        PassphraseSource(file: passphraseFile, descriptor: passphraseFd, variable: "SEALKIT_PASSPHRASE")
    }

    var containerIdentifier: String { container ?? Self.variable("SEALKIT_CONTAINER") ?? "org.sealkit.notes" }

    var environment: EnvironmentName {
        // What is none was refused before the command ran.
        (try? chosenEnvironment()) ?? .development
    }

    private func chosenEnvironment() throws(SealKitError) -> EnvironmentName {
        if let givenEnvironment { return givenEnvironment }
        guard let name = Self.variable("SEALKIT_ENVIRONMENT") else { return .development }
        guard let environment = EnvironmentName(rawValue: name) else {
            throw SealKitError(
                .invalidArguments, "SEALKIT_ENVIRONMENT is neither development nor production",
                remedy: "set it to one of them, or leave it out")
        }
        return environment
    }

    /// Those of these options that say as whom, as they were given.
    var givenAccount: [AdvisedCommand.Given] { [("key-file", keyFile), ("account", account)] }

    /// Those that say as whom and where, for a command that is printed to be run.
    var givenPlace: [AdvisedCommand.Given] {
        let place: [AdvisedCommand.Given] = [("container", container), ("environment", givenEnvironment?.rawValue)]
        return givenAccount + place
    }

    /// - Throws: `badContainer`.
    func checkContainer() throws(SealKitError) { try Container.checkIdentifier(containerIdentifier) }

    func transport(server: String) throws(SealKitError) -> HTTPTransport {
        var configuration = HTTPTransport.Configuration()
        configuration.certificateAuthorityFile = caFile ?? Self.variable("SEALKIT_CA_FILE")
        if let file = configuration.certificateAuthorityFile, !FileManager.default.isReadableFile(atPath: file) {
            throw SealKitError(
                .invalidArguments, "there is no certificate file to read at \(file)", remedy: "check --ca-file")
        }
        return try HTTPTransport(server: server, configuration: configuration)
    }

    func makeContainer(_ account: Account, trust: TrustStore? = nil) throws(SealKitError) -> Container {
        try Container(
            containerIdentifier, environment: environment == .production ? .production : .development, account: account,
            trust: trust)
    }

    /// The passphrase as it was given without asking: by file, descriptor or environment.
    func givenPassphrase() throws(SealKitError) -> String? { try passphraseSource.given() }

    /// The passphrase of a key file that is about to be made: nil for an unsealed one.
    func newPassphrase(ask: Bool) throws(SealKitError) -> String? {
        ask ? try passphraseSource.new() : try passphraseSource.given()
    }
}
