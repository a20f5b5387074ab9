import Foundation
import SealEnvelope
import SealKit
import Synchronization

/// A key file that is about to be written: checked before anything is made on the server.
struct NewKeyFile {
    private let global: GlobalOptions
    /// Whether an account whose making was cut off may lie there, to be gone on with.
    private let goesOn: Bool
    private var url: URL { global.keyFileURL }

    init(_ global: GlobalOptions, goesOn: Bool = false) {
        self.global = global
        self.goesOn = goesOn
    }

    /// The one that lies there; nil for none.
    private var unfinished: KeyFile? {
        guard let file = try? KeyFile(contentsOf: url), file.isUnfinished else { return nil }
        return file
    }

    func check() throws {
        try global.checkContainer()
        let remedy = "name another with --account or --key-file, or move it away"
        if FileManager.default.fileExists(atPath: url.path) {
            if goesOn, unfinished != nil { return }
            throw Failure.Local(
                status: .cannotWrite, reason: "there is a key file at \(url.path) already", remedy: remedy)
        }
        // Through one that leads nowhere nothing is written, which would come out when the account has been made.
        guard (try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)) == nil else {
            throw Failure.Local(
                status: .cannotWrite, reason: "\(url.path) is a link to a file that is not there", remedy: remedy)
        }
        let folder = url.deletingLastPathComponent()
        if !FileManager.default.fileExists(atPath: folder.path) {
            do {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw Failure.Local(status: .cannotWrite, reason: "the folder \(folder.path) cannot be made")
            }
        }
        guard access(folder.path, W_OK) == 0 else {
            throw Failure.Local(status: .cannotWrite, reason: "the folder \(folder.path) cannot be written to")
        }
    }

    /// Runs what brings an account to this device, with what it verifies beside the new key file. Where that comes to
    /// no key file, nothing is left that was not there before.
    /// - Throws: also where another command is at the same key file.
    func make<T>(_ body: (TrustStore) async throws -> T) async throws -> T {
        let lock = try KeyFileLock(beside: url)
        defer { withExtendedLifetime(lock) {} }
        try check()
        let wasThere = FileManager.default.fileExists(atPath: global.trustFileURL.path)
        do {
            return try await body(try TrustFiles.open(beside: url))
        } catch {
            if !wasThere, !FileManager.default.fileExists(atPath: url.path) { TrustFiles.remove(beside: url) }
            throw error
        }
    }

    /// The end of a command that has brought an account to this device.
    /// - Parameter words: what has happened to it, before its user name.
    func keep(
        _ account: Account, trust: TrustStore, passphrase: String?, saying words: String,
        device: DeviceNameOption, _ output: Output
    ) async throws {
        try write(account, passphrase: passphrase)
        let container = try global.makeContainer(account, trust: trust)
        let name = try container.userRecordID().recordName
        await container.makeKnown(output)
        await device.distinguish(account)
        await Interruption.settle { try? await account.logOut() }
        try output.result(
            "\(words) \(name)\nkey file: \(url.path)", bare: name,
            json: ["userRecordName": .string(name), "keyFile": .string(url.path)])
    }

    /// Makes an account in the file, which is written before the server hears of it: where its answer is lost, the same
    /// command goes on with the account.
    /// - Parameter body: makes it in the store that it is given.
    func create(
        passphrase: String?,
        _ body: (any KeyStore) async throws(SealKitError) -> (account: Account, recoveryKey: RecoveryKey)
    ) async throws -> (account: Account, recoveryKey: RecoveryKey) {
        let begun = unfinished
        let file = try await fileStore(for: begun, passphrase: passphrase)
        let store = NewFileStore(file)
        do {
            return try await body(store)
        } catch {
            if let failure = store.failure { throw unwritten(failure) }
            // What was refused is kept for nobody; what was there before may be an account by now.
            if begun == nil, error.isRefusal { try? await file.delete() }
            guard unfinished != nil else { throw error as any Error }
            throw error.adding(
                remedy: """
                    give the same command again, with the right server or code where they were wrong: it goes on with the \
                    account that \(url.path) keeps; or move that file away, to begin anew
                    """) as any Error
        }
    }

    /// - Parameter begun: what is in the file; nil for none.
    private func fileStore(for begun: KeyFile?, passphrase: String?) async throws -> FileKeyStore {
        guard let passphrase else { return begun?.isSealed == true ? global.keyStore : FileKeyStore(file: url) }
        let store = FileKeyStore(file: url) { () throws(SealKitError) in passphrase }
        // It stays sealed, or unsealed, as it is.
        if begun?.isSealed == false { try await store.changePassphrase(to: passphrase) }
        return store
    }

    private func write(_ account: Account, passphrase: String?) throws {
        do {
            try KeyFile.write(account, to: url, passphrase: passphrase)
        } catch {
            throw unwritten(error)
        }
    }

    private func unwritten(_ error: SealKitError) -> any Error {
        guard error.code == .internalError || error.code == .constraintViolation else { return error }
        return Failure.Local(status: .cannotWrite, reason: error.reason, remedy: error.remedy)
    }
}

extension SealKitError {
    /// What only a server says that has not made the account.
    fileprivate var isRefusal: Bool { [.permissionFailure, .verificationFailed, .invalidArguments].contains(code) }
}

/// Tells a key file's failure from the server's.
private final class NewFileStore: KeyStore {
    private let file: FileKeyStore
    private let failed = Mutex<SealKitError?>(nil)

    var failure: SealKitError? { failed.withLock { $0 } }

    init(_ file: FileKeyStore) { self.file = file }

    func load() async throws(SealKitError) -> AccountSecrets? { try await file.load() }

    func save(_ secrets: AccountSecrets, replacing old: AccountSecrets?) async throws(SealKitError) {
        do { try await file.save(secrets, replacing: old) } catch {
            failed.withLock { $0 = error }
            throw error
        }
    }

    func delete() async throws(SealKitError) { try await file.delete() }

    func lock() { file.lock() }
}
