import Foundation
import SealKit
import SealKitTesting
import Synchronization
import Testing

@testable import CloudKit

/// Whose account it is, read from a key store that is slow, empty, or filled later.
@Suite(.timeLimit(.minutes(60))) struct SetupTests {
    /// A key store that is read when it is let.
    private final class SlowStore: KeyStore {
        private let gate = AsyncStream<Void>.makeStream()
        private let secrets = Mutex<AccountSecrets?>(nil)
        private let isOpen = Mutex(false)
        let reads = Mutex(0)

        func open() {
            isOpen.withLock { $0 = true }
            gate.continuation.finish()
        }

        func load() async throws(SealKitError) -> AccountSecrets? {
            reads.withLock { $0 += 1 }
            if !isOpen.withLock({ $0 }) { for await _ in gate.stream {} }
            return secrets.withLock { $0 }
        }

        func save(_ new: AccountSecrets, replacing old: AccountSecrets?) async throws(SealKitError) {
            secrets.withLock { $0 = new }
        }
        func delete() async throws(SealKitError) { secrets.withLock { $0 = nil } }
    }

    @Test func waitingForTheAccountEndsWithTheTask() async throws {
        let store = SlowStore()
        let container = CKContainer(
            identifier: "org.example.app", setup: .init(account: .keyStore(store, trustFile: nil)))
        let task = Task { try await container.privateCloudDatabase.allRecordZones() }
        while store.reads.withLock({ $0 }) == 0 { await Task.yield() }
        let other = Task { try await container.accountStatus() }
        task.cancel()
        await expectFailure(.operationCancelled) { _ = try await task.value }
        // Who goes on waiting is told what there is.
        store.open()
        #expect(try await other.value == .noAccount)
    }

    /// Somebody makes an account while the app runs.
    @Test func noAccountIsNotForEver() async throws {
        try await TestServer.run { server in
            let device = try await server.account(named: "ann")
            let store = SlowStore()
            store.open()
            let source = AccountSource(.keyStore(store, trustFile: nil), stateFolder: nil)
            try await source.ready()
            #expect(source.provider.account == nil)
            try await source.ready()
            let twice = store.reads.withLock { $0 }
            #expect(twice == 2)
            // One whose making was cut off is none yet.
            var begun = try device.account.secrets
            begun.recoveryKey = try await device.account.renewRecoveryKey { _ in }
            try await store.save(begun, replacing: nil)
            try await source.ready()
            #expect(source.provider.account == nil)
            try await store.save(try device.account.secrets, replacing: begun)
            await source.find()
            #expect(source.provider.account != nil)
            let reads = store.reads.withLock { $0 }
            try await source.ready()
            let after = store.reads.withLock { $0 }
            #expect(after == reads)
        }
    }
}
