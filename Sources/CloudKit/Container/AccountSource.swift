import Foundation
import SealKit
import Synchronization

/// Who is signed in, once that is known: a key store is read when somebody first asks.
final class AccountSource: Sendable {
    let provider: AccountProvider
    private let load: (@Sendable () async throws(SealKitError) -> (Account, TrustStore)?)?
    /// The one reading that all calls wait for; nil once it has succeeded, and before it begins.
    private let state = Mutex(State())

    private struct State {
        var isKnown = false
        var reading: Task<Result<Void, SealKitError>, Never>?
    }

    init(_ account: CKContainer.Setup.Account) {
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

    /// - Throws: why the key store cannot be read: each call does, until it can.
    func ready() async throws(SealKitError) {
        guard let load else { return }
        let reading = state.withLock { state -> Task<Result<Void, SealKitError>, Never>? in
            guard !state.isKnown else { return nil }
            if let reading = state.reading { return reading }
            let reading = Task { [self] in
                let result: Result<Void, SealKitError>
                do throws(SealKitError) {
                    if let (account, trust) = try await load() {
                        provider.signIn(account, trust: trust)
                    } else {
                        provider.signOut()
                    }
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                self.state.withLock { state in
                    if case .success = result { state.isKnown = true }
                    state.reading = nil
                }
                return result
            }
            state.reading = reading
            return reading
        }
        try await reading?.value.get()
    }
}
