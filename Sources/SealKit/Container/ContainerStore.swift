import Foundation
import NIOCore
import SealEnvelope
import SealPrimitives
import SealStatements
import Synchronization

/// A container's core for whoever is signed in.
final class ContainerStore: Sendable {
    let identifier: String
    let accounts: AccountProvider
    /// Of a container that does not go by accounts.
    private let fixed: ContainerCore?
    let environment: SealStatements.Environment
    /// Keys that belong to nobody, behind a gate that lets nothing through: what databases are made of while nobody is
    /// signed in.
    private let nobody: ContainerCore
    private let made: Mutex<(generation: Int, core: ContainerCore)>

    /// - Throws: `badContainer`.
    init(_ identifier: String, _ environment: Container.Environment, accounts: AccountProvider) throws(SealKitError) {
        self.identifier = identifier
        self.accounts = accounts
        fixed = nil
        self.environment = environment == .production ? .production : .development
        var random = SystemRandom()
        let account = try Account(seeds: [AccountSeed(random: &random)], transport: NoTransport())
        nobody = try ContainerCore(
            account: account, identifier: identifier, environment: self.environment, trust: try TrustStore()
        ) { () throws(SealKitError) in try accounts.require(-1) }
        made = Mutex((generation: -1, core: nobody))
        accounts.add(self)
    }

    /// For a container without an account, whoever signs in.
    init(_ core: ContainerCore) {
        identifier = core.identifier
        accounts = AccountProvider()
        accounts.signOut()
        environment = core.environment
        fixed = core
        nobody = core
        made = Mutex((generation: -1, core: core))
    }

    func core() -> ContainerCore {
        if let fixed { return fixed }
        let current = accounts.current
        return made.withLock { made in
            if made.generation != current.generation { made = (current.generation, core(current)) }
            return made.core
        }
    }

    /// What it has made for an account that is not in use any more.
    func forget(before generation: Int) {
        made.withLock { made in if made.generation < generation { made = (-1, nobody) } }
    }

    private func core(_ current: AccountProvider.Current) -> ContainerCore {
        guard case .signedIn(let account, let trust) = current.state else { return nobody }
        let generation = current.generation
        do throws(SealKitError) {
            let known: TrustStore
            if let trust { known = trust } else { known = try TrustStore() }
            return try ContainerCore(
                account: account, identifier: identifier, environment: environment, trust: known,
                temporaryAssets: current.temporaryAssets, journal: current.journal
            ) {
                [accounts] () throws(SealKitError) in try accounts.require(generation)
            }
        } catch {
            let reason = error
            return ContainerCore(nobody) { () throws(SealKitError) in throw reason }
        }
    }
}

/// Leads nowhere.
private struct NoTransport: Transport {
    let origin = ""
    private let refusal = SealKitError(
        .notAuthenticated, "nobody is signed in on this device", remedy: "sign an account in")

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        throw refusal
    }
    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse { throw refusal }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse { throw refusal }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) { throw refusal }
}
