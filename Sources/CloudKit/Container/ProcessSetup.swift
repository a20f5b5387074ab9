import Foundation
import SealKit
import Synchronization

/// What this process was told: by `CKContainer.configure`, the environment, the file beside the executable, or the
/// account that the command line uses, whichever is found first.
struct ProcessSetup: Sendable {
    /// The command line's names.
    enum Key: String, CaseIterable {
        case keyFile = "SEALKIT_KEY_FILE"
        case account = "SEALKIT_ACCOUNT"
        case passphrase = "SEALKIT_PASSPHRASE"
        case container = "SEALKIT_CONTAINER"
        case authority = "SEALKIT_CA_FILE"
        case environment = "SEALKIT_ENVIRONMENT"
        case state = "SEALKIT_STATE"
    }

    static let fileName = "CloudKit.json"

    private let values: [Key: String]
    private let home: URL

    /// - Parameters:
    ///   - environment: of the process.
    ///   - file: `CloudKit.json`, which need not be there; what the environment says goes before it.
    ///   - home: the user's folder.
    /// - Throws: `invalidArguments` for a file that is not one object of strings, or has a key that is none.
    init(environment: [String: String], file: URL?, home: URL) throws(SealKitError) {
        var values: [Key: String] = [:]
        if let file, let data = FileManager.default.contents(atPath: file.path) {
            guard let object = try? JSONDecoder().decode([String: String].self, from: data) else {
                throw SealKitError(
                    .invalidArguments, "\(file.path) is not a JSON object of strings",
                    remedy: "give it keys as SEALKIT_KEY_FILE and SEALKIT_CONTAINER")
            }
            for (name, value) in object {
                guard let key = Key(rawValue: name) else {
                    throw SealKitError(
                        .invalidArguments, "\(file.path) has a key that nothing reads: \(name)",
                        remedy: "use " + Key.allCases.map(\.rawValue).joined(separator: ", "))
                }
                values[key] = value
            }
        }
        for key in Key.allCases { if let value = environment[key.rawValue], !value.isEmpty { values[key] = value } }
        self.values = values
        self.home = home
    }

    static func ofThisProcess() throws(SealKitError) -> ProcessSetup {
        let environment = ProcessInfo.processInfo.environment
        // $HOME first, as shells and the command line have it.
        let home =
            environment["HOME"].map { URL(fileURLWithPath: $0) } ?? FileManager.default.homeDirectoryForCurrentUser
        let folder = Bundle.main.executableURL?.deletingLastPathComponent()
        return try ProcessSetup(
            environment: environment, file: folder?.appendingPathComponent(fileName), home: home)
    }

    /// - Throws: `invalidArguments` for an environment or an account's name that is none.
    func setup() throws(SealKitError) -> CKContainer.Setup {
        let file = try keyFile()
        // Never asked for here: a sealed key file without one is `accountTemporarilyUnavailable`.
        var passphrase: FileKeyStore.Passphrase?
        if let given = values[.passphrase] { passphrase = { () async throws(SealKitError) in given } }
        let store = FileKeyStore(file: file, passphrase: passphrase)
        return CKContainer.Setup(
            account: .keyStore(
                store, trustFile: URL(fileURLWithPath: file.path + ".trust"),
                certificateAuthorityFile: values[.authority]),
            containerIdentifier: values[.container], environment: try environment(),
            stateFolder: URL(fileURLWithPath: values[.state] ?? file.path + ".state"))
    }

    private func environment() throws(SealKitError) -> SealKit.Container.Environment {
        guard let name = values[.environment] else { return .development }
        guard let environment = SealKit.Container.Environment(rawValue: name) else {
            throw SealKitError(
                .invalidArguments, "SEALKIT_ENVIRONMENT is neither development nor production",
                remedy: "set it to one of them, or leave it out")
        }
        return environment
    }

    private func keyFile() throws(SealKitError) -> URL {
        let folder = AccountFolder(home: home)
        if let name = values[.account], values[.keyFile] == nil {
            try AccountFolder.check(name)
            return folder.keyFile(name)
        }
        if let path = values[.keyFile] { return URL(fileURLWithPath: path) }
        return folder.keyFile(try folder.current())
    }
}

extension ProcessSetup: CustomReflectable {
    /// The passphrase shows nowhere.
    var customMirror: Mirror { Mirror(self, children: ["keys": values.keys.map(\.rawValue).sorted()]) }
}
