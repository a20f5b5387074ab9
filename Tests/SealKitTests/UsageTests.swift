import Foundation
import SealLab
import Testing

@testable import SealKit

/// What an account stores, as the SDK and the command line tell it, and what happens when that is too much.
@Suite(.timeLimit(.minutes(60))) struct UsageTests {
    @Test func anAccountLearnsWhatItStoresAndIsStoppedAtItsQuota() async throws {
        let server = try ServerProcess(mail: false, arguments: ["--storage-quota", "20000"])
        defer { server.stop() }
        let ann = try await Person(server)
        let nothing = try await ann.account.storageUsage()
        #expect(nothing == StorageUsage(recordCount: 0, bytes: 0, bytesLimit: 20_000, containers: []))
        let noPart = try await ann.container.storageUsage()
        #expect(noPart == nil)
        let zone = try await ann.makeZone()
        let first = try await ann.own.save(ann.note(in: zone, String(repeating: "a", count: 5_000)))
        let usage = try await ann.account.storageUsage()
        #expect(usage.recordCount == 1 && usage.bytes > 6_000 && usage.bytes < 7_000)
        let found = try await ann.container.storageUsage()
        let part = try #require(found)
        #expect(part == usage.containers[0] && part.containerIdentifier == "org.example.notes" && part.environment == .development)
        #expect(part.zoneCount == 1 && part.recordCount == 1 && part.bytes == usage.bytes)
        let other = try await Container("org.example.other", account: ann.account).storageUsage()
        #expect(other == nil)

        let large = ann.note(in: zone, String(repeating: "b", count: 15_000))
        await #expect {
            _ = try await ann.own.save(large)
        } throws: { error in
            guard let error = error as? SealKitError else { return false }
            return error.code == .quotaExceeded && error.retryAfter == nil && error.remedy.contains("Delete")
        }
        let after = try await ann.account.storageUsage()
        #expect(after == usage)
        try await ann.own.deleteRecord(withID: first.recordID)
        let freed = try await ann.account.storageUsage().bytes
        #expect(freed == 0)
        _ = try await ann.own.save(large)
    }

    @Test func theCommandLinePrintsIt() async throws {
        let server = try ServerProcess(mail: false, arguments: ["--storage-quota", "1000000"])
        defer { server.stop() }
        let file = server.folder.appendingPathComponent("ann.json").path
        _ = try sealkit(["account", "create", "--server", server.origin, "--key-file", file])
        let text = try sealkit(["account", "status", "--key-file", file])
        #expect(text == "available at \(server.origin)\n0 records, 0 bytes stored of 1000000\n")
        let json = try sealkit(["account", "status", "--key-file", file, "--json"])
        #expect(json.contains("\"bytes\":0") && json.contains("\"bytesLimit\":1000000") && json.contains("\"status\":\"available\""))
    }

    private func sealkit(_ arguments: [String]) throws -> String {
        let command = try Command.run(ServerProcess.executable, arguments)
        #expect(command.status == 0)
        return command.output
    }
}
