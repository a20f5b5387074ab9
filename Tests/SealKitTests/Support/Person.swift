import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements

@testable import SealKit

/// Somebody with an account on the test server.
struct Person {
    let account: Account
    let container: Container
    let server: ServerProcess

    var name: String { container.core.userID().recordName }
    var own: Database { container.privateDatabase }
    var shared: Database { container.sharedDatabase }

    init(_ server: ServerProcess? = nil, container identifier: String = "org.example.notes", trust: TrustStore? = nil)
        async throws
    {
        let server = try server ?? ServerProcess.shared.get()
        self.server = server
        account = try await Account.create(transport: try HTTPTransport(server: server.origin), deviceName: "test")
            .account
        container = try Container(identifier, account: account, trust: trust)
        // The first call tells the server this account's identity in the container.
        _ = try await container.privateDatabase.allRecordZones()
    }

    private init(account: Account, container: Container, server: ServerProcess) {
        self.account = account
        self.container = container
        self.server = server
    }

    /// The same person on a device that has seen nothing yet.
    func onFreshDevice(transport: (any Transport)? = nil) throws -> Person {
        let account = try Account(seeds: account.seeds, transport: transport ?? HTTPTransport(server: server.origin))
        return Person(
            account: account, container: try Container(container.containerIdentifier, account: account), server: server)
    }

    /// This account's device as it starts from what it has kept.
    /// - Parameter trust: nil for a device that has verified nothing yet.
    func starting(from seeds: [AccountSeed], trust: TrustStore?, transport: (any Transport)? = nil) throws -> Person {
        let account = try Account(seeds: seeds, transport: transport ?? HTTPTransport(server: server.origin))
        let container = try Container(container.containerIdentifier, account: account, trust: trust)
        return Person(account: account, container: container, server: server)
    }

    /// The same device, reaching the server through another transport.
    func through(_ transport: any Transport, pacing: Pacing = .real) throws -> Person {
        let account = try Account(seeds: account.seeds, client: Client(transport: transport, pacing: pacing))
        let container = try Container(container.containerIdentifier, account: account, trust: self.container.core.trust)
        return Person(account: account, container: container, server: server)
    }

    /// Proves an address to the server; others find this account by it unless told otherwise.
    func link(_ address: String, discoverable: Bool = true) async throws {
        let verification = try await container.beginVerification(of: address)
        _ = try await verification.complete(code: try await code(address), discoverable: discoverable)
    }

    func code(_ address: String) async throws -> String {
        guard let mail = server.mail else { throw MailServer.NoMail() }
        return try await mail.code(for: address)
    }

    func makeZone(_ name: String = "zone-\(UUID().uuidString.prefix(8))") async throws -> RecordZone.ID {
        try await own.save(RecordZone(zoneName: name)).zoneID
    }

    func note(in zone: RecordZone.ID, _ body: String, name: String = UUID().uuidString) -> Record {
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zone))
        record.encryptedValues["body"] = body
        return record
    }
}

/// A folder that goes when its test does.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("sealkit-test-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }
}

/// Runs `body` and gives the code that it fails with; nil when it does not.
func failure(_ body: () async throws -> Void) async -> SealKitError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? SealKitError)?.code
    }
}

extension Result {
    var failureCode: SealKitError.Code? {
        guard case .failure(let error) = self else { return nil }
        return (error as? SealKitError)?.code
    }
}

/// Bytes that differ everywhere, without being random.
func pattern(_ count: Int) -> Data {
    var data = Data(count: count)
    data.withUnsafeMutableBytes { buffer in
        var state: UInt64 = 88_172_645_463_325_252
        for index in buffer.indices {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            buffer[index] = UInt8(truncatingIfNeeded: state)
        }
    }
    return data
}
