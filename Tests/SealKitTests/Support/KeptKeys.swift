import SealEnvelope
import SealLab
import Synchronization

@testable import SealKit

/// What a device keeps of an account's keys, as its key file would, and what it has shown of recovery keys.
final class KeptKeys: Sendable {
    private let content: Mutex<(seeds: [AccountSeed], shown: [RecoveryKey], failing: SealKitError?)>

    init(_ person: Person) { content = Mutex((person.account.seeds, [], nil)) }

    var seeds: [AccountSeed] { content.withLock(\.seeds) }
    var shown: [RecoveryKey] { content.withLock(\.shown) }

    /// The disk is full, say.
    func fail(with error: SealKitError?) { content.withLock { $0.failing = error } }

    func keep(_ seeds: [AccountSeed]) throws(SealKitError) {
        try content.withLock { content throws(SealKitError) in
            if let error = content.failing { throw error }
            content.seeds = seeds
        }
    }

    func show(_ key: RecoveryKey) { content.withLock { $0.shown.append(key) } }
}

extension Person {
    @discardableResult
    func rotateKeys(
        _ kept: KeptKeys, passphrase: Account.RecoveryPassphrase? = nil,
        show: (RecoveryKey) async throws(SealKitError) -> Void = { (_) async throws(SealKitError) in }
    ) async throws(SealKitError) -> RecoveryKey? {
        try await account.rotateKeys(
            trust: container.core.trust, passphrase: passphrase,
            keep: { seeds async throws(SealKitError) in try kept.keep(seeds) },
            show: { key async throws(SealKitError) in
                try await show(key)
                kept.show(key)
            })
        return kept.shown.last
    }

    /// The device is switched off and on again.
    func restarted(_ kept: KeptKeys, transport: (any Transport)? = nil) throws -> Person {
        try starting(from: kept.seeds, trust: container.core.trust, transport: transport)
    }

    func finishKeyRotation() async throws(SealKitError) {
        try await account.finishKeyRotation(trust: container.core.trust)
    }

    /// A device that gets the account back and has verified nothing yet.
    func recovered(with key: RecoveryKey) async throws -> Person {
        let account = try await Account.recover(key, transport: HTTPTransport(server: server.origin))
        return try starting(from: account.seeds, trust: nil)
    }

    func body(of record: Record.ID, in database: Database) async throws -> String? {
        try await database.record(for: record).encryptedValues["body"]
    }
}
