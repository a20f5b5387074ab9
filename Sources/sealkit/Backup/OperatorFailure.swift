import SealServer
import SealService
import SealStorage

/// What fails on a server's own files, by the kinds that exit codes tell apart.
enum OperatorFailure {
    /// - Throws: `Failure.Local`, `ConfigurationError`, `CancellationError`.
    static func telling<T>(_ body: () async throws -> T) async throws -> T {
        do { return try await body() } catch {
            throw local(error) ?? error
        }
    }

    private static func local(_ error: any Error) -> Failure.Local? {
        switch error {
        case let error as BackupError:
            Failure.Local(status: status(error.kind), reason: error.reason, remedy: error.remedy)
        case let error as DataFolderInUse: Failure.Local(status: .tryLater, reason: "\(error)")
        case let error as FileError: Failure.Local(status: .cannotWrite, reason: "\(error)")
        case let error as SecretFileError: Failure.Local(status: .badInput, reason: "\(error)")
        case StorageError.full: Failure.Local(status: .cannotWrite, reason: "the disk is full", remedy: "make room")
        case let error as StorageError:
            switch error {
            case .unknownSchema, .unsuitable, .denied, .unsettled: Failure.Local(status: .badInput, reason: "\(error)")
            case .inUse:
                Failure.Local(
                    status: .tryLater, reason: "\(error)",
                    remedy: "see which one has sealkit.sqlite open, wait until it has ended, and run the same again")
            case .unavailable:
                Failure.Local(
                    status: .network, reason: "\(error)",
                    remedy: "see that it runs and lets itself be reached, and run the same again")
            default:
                Failure.Local(
                    status: .integrity, reason: "the database cannot be read: \(error)",
                    remedy: "stop the server, and see what sealkit check says")
            }
        default: nil
        }
    }

    private static func status(_ kind: BackupError.Kind) -> ExitStatus {
        switch kind {
        case .badInput: .badInput
        case .notFound: .notFound
        case .damaged: .integrity
        case .busy: .tryLater
        case .cannotWrite: .cannotWrite
        }
    }
}
