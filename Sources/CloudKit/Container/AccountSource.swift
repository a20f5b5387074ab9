import Foundation
import SealKit
import Synchronization

/// Who is signed in, once that is known: a key store is read when somebody first asks.
final class AccountSource: Sendable {
    let provider: AccountProvider
    private let load: (@Sendable () async throws(SealKitError) -> (Account, TrustStore)?)?
    private let state = Mutex(State())

    fileprivate struct State {
        /// An account was found: what becomes of it later the provider knows.
        var isKnown = false
        /// Calls that wait for the one reading that is under way.
        var waiting: [Int: CheckedContinuation<Result<Void, SealKitError>, Never>] = [:]
        var next = 0
        var isReading = false
        var journalFailure: SealKitError?
    }

    /// Why there is no journal of long-lived operations, where there should be one.
    var journalFailure: SealKitError? { state.withLock { $0.journalFailure } }
    private let journalFile: URL?

    /// - Parameter stateFolder: where the journal of long-lived operations is; nil for none.
    init(_ account: CKContainer.Setup.Account, stateFolder: URL?) {
        journalFile = stateFolder?.appendingPathComponent("operations")
        switch account {
        case .provider(let provider):
            self.provider = provider
            load = nil
        case .keyStore(let store, let trustFile, let authority):
            provider = AccountProvider()
            load = { () async throws(SealKitError) in
                let account = try await Account.load(from: store) { server throws(SealKitError) in
                    try HTTPTransport(
                        server: server,
                        configuration: HTTPTransport.Configuration(certificateAuthorityFile: authority))
                }
                guard let account else { return nil }
                return (account, try TrustStore(file: trustFile))
            }
        }
    }

    /// Reads the key store unless it has given an account already; one reading is for all that wait for it.
    /// - Throws: why the key store cannot be read: each call does, until it can; `operationCancelled`.
    func ready() async throws(SealKitError) {
        guard let load, let number = state.withLock({ $0.number() }) else { return }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait(number, continuation, load) }
        } onCancel: {
            // Before it waits, it finds out by itself.
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: .failure(.notWaitedFor))
        }
        try result.get()
    }

    /// Looks again and again until there is an account, or the task is cancelled: nothing tells when a key file comes.
    func find() async {
        var pause = Duration.seconds(1)
        while !Task.isCancelled {
            // Each call says what is wrong.
            try? await ready()
            guard load != nil, !state.withLock({ $0.isKnown }) else { return }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(60))
        }
    }

    private func wait(
        _ number: Int, _ continuation: CheckedContinuation<Result<Void, SealKitError>, Never>,
        _ load: @escaping @Sendable () async throws(SealKitError) -> (Account, TrustStore)?
    ) {
        let isFirst = state.withLock { state in
            state.waiting[number] = continuation
            defer { state.isReading = true }
            return !state.isReading
        }
        if Task.isCancelled {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: .failure(.notWaitedFor))
        }
        // In a task of its own: who gives up waiting ends nobody else's.
        if isFirst { Task { [self] in await read(load) } }
    }

    private func read(_ load: @Sendable () async throws(SealKitError) -> (Account, TrustStore)?) async {
        var isFound = false
        let result: Result<Void, SealKitError>
        do throws(SealKitError) {
            if let (account, trust) = try await load() {
                provider.signIn(account, trust: trust, journal: journal())
                isFound = true
            } else {
                // Somebody may make one: the next call looks again.
                provider.signOut()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.isReading = false
            state.isKnown = isFound
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: result) }
    }

    /// Records are kept by it, and not by what else an app does: without one, all but long-lived operations goes on.
    private func journal() -> OperationJournal? {
        guard let journalFile else { return nil }
        do {
            StateFolder.make(for: journalFile)
            return try OperationJournal(file: journalFile)
        } catch {
            state.withLock { $0.journalFailure = error }
            return nil
        }
    }
}

extension AccountSource.State {
    /// Of another call that waits; nil where there is nothing to wait for.
    fileprivate mutating func number() -> Int? {
        guard !isKnown else { return nil }
        defer { next += 1 }
        return next
    }
}

extension SealKitError {
    fileprivate static let notWaitedFor = SealKitError(.operationCancelled, "the operation was cancelled")
}
