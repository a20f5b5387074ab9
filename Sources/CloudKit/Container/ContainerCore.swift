import Foundation
import SealKit
import Synchronization

/// What all `CKContainer`s of one identifier share.
final class ContainerCore: Sendable {
    let identifier: String
    private let source: AccountSource?
    /// That addresses which were invited are the account's, by the URLs of the shares that it was proven for.
    let proofs = Shared<[String: VerificationToken]>([:])
    let push: PushListener
    /// What the app does about a share that its user has opened.
    let shareHandler = Shared<(@Sendable (CKShare.Metadata) -> Void)?>(nil)
    /// Why every call fails, where the process or the identifier is not what it has to be.
    private let made: Result<SealKit.Container, SealKitError>

    init(
        _ identifier: String, environment: SealKit.Container.Environment, source: AccountSource,
        positions: PushPositions
    ) {
        self.identifier = identifier
        self.source = source
        let made = Result { () throws(SealKitError) in
            try SealKit.Container(identifier, environment: environment, accounts: source.provider)
        }
        self.made = made
        push = PushListener(identifier, environment: environment.rawValue, positions: positions) {
            () async throws(SealKitError) in
            let container = try made.get()
            try await source.ready()
            return container
        }
        AccountNotices.begin()
    }

    init(_ identifier: String, failing error: SealKitError) {
        self.identifier = identifier
        source = nil
        made = .failure(error)
        push = PushListener(identifier, environment: "", positions: PushPositions(nil)) {
            () async throws(SealKitError) in throw error
        }
    }

    /// What SealKit says of something in this container.
    /// - Parameter others: user information that goes before what the error says by itself.
    func words(_ error: SealKitError, adding others: [String: any Sendable] = [:]) -> CKError {
        CKError(error, mayBeReset: mayBeReset, adding: others)
    }

    /// The same of whatever a call of SealKit's, or of this module's, has ended with.
    func words(any error: any Error) -> CKError {
        (error as? SealKitError).map { words($0) } ?? CKError(any: error)
    }

    /// Runs a call of SealKit's, failing in CloudKit's words.
    func inWords<T>(_ body: () async throws -> T) async throws(CKError) -> T {
        do { return try await body() } catch { throw words(any: error) }
    }

    func words<Value>(_ result: Result<Value, SealKitError>) -> Result<Value, CKError> { result.mapError { words($0) } }

    /// Whether what the server says of a reset may be told to an app.
    var mayBeReset: Bool { (try? made.get())?.hasOtherKeys ?? false }

    /// - Throws: `badContainer`.
    func unreadied() throws(SealKitError) -> SealKit.Container { try made.get() }

    /// Looks until there is an account, or the task is cancelled.
    func findAccount() async { await source?.find() }

    /// - Throws: `badContainer`; what keeps the account from being read.
    func container() async throws(SealKitError) -> SealKit.Container {
        let container = try made.get()
        try await source?.ready()
        return container
    }

    /// - Throws: where the journal of long-lived operations is there and cannot be read. Another process's is as good
    ///   as none.
    func requireReadableJournal() throws(SealKitError) {
        if let failure = journalFailure, failure.code != .constraintViolation { throw failure }
    }

    /// Why there is no journal of long-lived operations, where there should be one.
    var journalFailure: SealKitError? { source?.journalFailure }
}

/// One core for each identifier under one setup, for as long as somebody uses it or the process lasts.
final class ContainerCores: Sendable {
    private let source: AccountSource
    private let environment: SealKit.Container.Environment
    private let positions: PushPositions
    private let cores = Mutex<[String: ContainerCore]>([:])

    init(_ setup: CKContainer.Setup) {
        source = AccountSource(setup.account, stateFolder: setup.stateFolder)
        positions = PushPositions(setup.stateFolder)
        environment = setup.environment
    }

    func core(_ identifier: String) -> ContainerCore {
        cores.withLock { cores in
            if let core = cores[identifier] { return core }
            let core = ContainerCore(
                identifier, environment: environment, source: source, positions: positions)
            cores[identifier] = core
            return core
        }
    }
}

/// SealKit's word for a change of account, under CloudKit's name as well.
enum AccountNotices {
    private static let isListening = Mutex(false)

    static func begin() {
        let isFirst = isListening.withLock { isListening in
            defer { isListening = true }
            return !isListening
        }
        guard isFirst else { return }
        // For as long as the process lasts.
        _ = NotificationCenter.default.addObserver(forName: .accountChanged, object: nil, queue: nil) { _ in
            NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
        }
    }
}
