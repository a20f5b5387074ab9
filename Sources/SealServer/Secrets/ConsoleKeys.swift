import Foundation
import SealCoding
import SealPrimitives
import SealService
import SealStorage
import SealSystem
import SealWire

/// Server-to-server keys that the operator lets the console use: credentials in `console-keys` of the secrets folder,
/// named by their files. They are read when a page asks for them, so that one that is put there or taken away needs no
/// restart, and no key stays in memory.
struct ConsoleKeys: Sendable {
    static let folderName = "console-keys"
    private static let ending = ".json"

    /// One, by what its file says, or why that cannot be used.
    struct Named: Sendable {
        let name: String
        let credential: Result<ServerCredentialFile, ServerError>
    }

    private let folder: String

    init(secretsFolder: String) { folder = secretsFolder + "/" + Self.folderName }

    /// By name.
    /// - Throws: `FileError` where the folder is there and cannot be read.
    func all() throws -> [Named] {
        try names().map { name in
            do throws(ServerError) { return Named(name: name, credential: .success(try read(name))) } catch {
                return Named(name: name, credential: .failure(error))
            }
        }
    }

    private func names() throws -> [String] {
        guard FileStatus(path: folder)?.isFolder == true else { return [] }
        return try PrivateFiles.names(in: folder).filter { $0.hasSuffix(Self.ending) && !$0.hasPrefix(".") }
            .map { String($0.dropLast(Self.ending.count)) }.sorted()
    }

    /// Those of one container and environment.
    func all(in path: DatabasePath) throws -> [String] {
        try all().filter { named in
            guard case .success(let credential) = named.credential else { return false }
            return credential.container == path.container && credential.environment == path.environment
        }.map(\.name)
    }

    /// - Parameter name: as a form has it: it is looked for among those that are there, and leads to no other file.
    /// - Throws: `unknownItem`, `permissionFailure` for one of another place; what keeps it from being used.
    func key(named name: String, in path: DatabasePath) throws -> ServerCredentialFile {
        guard try names().contains(name) else {
            throw ServerError(
                .unknownItem, "The console has no key of this name.",
                remedy: "Put its credential into console-keys of the secrets folder, or choose one that is there.")
        }
        let credential = try read(name)
        guard credential.container == path.container, credential.environment == path.environment else {
            throw ServerKeys.outOfReach
        }
        return credential
    }

    private func read(_ name: String) throws(ServerError) -> ServerCredentialFile {
        let path = folder + "/" + name + Self.ending
        var bytes: [UInt8]
        do { bytes = try SecretFile.contents(of: path, atMost: ServerCredentialFile.mostBytes) } catch {
            let isOpen = if case .readableByOthers? = error as? SecretFileError { true } else { false }
            throw ServerError(
                .permissionFailure,
                isOpen ? "Others than the server can read this key's file." : "This key's file cannot be read.",
                remedy: "Give it to the server's user, mode 0600.")
        }
        defer { wipe(&bytes) }
        do throws(ServerCredentialFile.Fault) { return try ServerCredentialFile(Data(bytes)) } catch {
            let isNewer = error == .version
            throw ServerError(
                .invalidArguments,
                isNewer
                    ? "This key's file was made by a newer version."
                    : "This key's file is no server-to-server key's credential.",
                remedy: isNewer ? "Update the server." : "Make one with sealkit server-key create.")
        }
    }
}
