import Foundation
import SealLab
import Testing

@testable import SealKit

/// What an account stores, as the SDK and the command line tell it, and what happens when that is too much.
@Suite(.timeLimit(.minutes(60))) struct UsageTests {
    @Test func anAccountLearnsWhatItStoresAndIsStoppedAtItsQuota() async throws {
        let server = try ServerProcess(mail: false, arguments: ["--storage-quota", "40000"])
        defer { server.stop() }
        let ann = try await Person(server)
        // What is kept for the account itself: its login key, device, recovery bundle and identity.
        let nothing = try await ann.account.storageUsage()
        #expect(nothing.recordCount == 0)
        #expect(nothing.bytes > 1_500)
        #expect(nothing.bytes < 8_000)
        #expect(nothing.bytesLimit == 40_000)
        #expect(nothing.containers.isEmpty)
        let noPart = try await ann.container.storageUsage()
        #expect(noPart == nil)
        let zone = try await ann.makeZone()
        let empty = try await ann.account.storageUsage().bytes
        let first = try await ann.own.save(ann.note(in: zone, String(repeating: "a", count: 5_000)))
        let usage = try await ann.account.storageUsage()
        #expect(usage.recordCount == 1)
        #expect(usage.bytes > empty + 6_000)
        #expect(usage.bytes < empty + 9_000)
        let found = try await ann.container.storageUsage()
        let part = try #require(found)
        #expect(part == usage.containers[0])
        #expect(part.containerIdentifier == "org.example.notes")
        #expect(part.environment == .development)
        #expect(part.zoneCount == 1)
        #expect(part.recordCount == 1)
        #expect(part.bytes > 6_000)
        #expect(part.bytes < usage.bytes)
        let other = try await Container("org.example.other", account: ann.account).storageUsage()
        #expect(other == nil)

        let large = ann.note(in: zone, String(repeating: "b", count: 28_000))
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
        // The tombstone stays, and the answers for a day.
        #expect(freed < usage.bytes - 4_000)
        #expect(freed > empty + 1_024)
        _ = try await ann.own.save(ann.note(in: zone, String(repeating: "c", count: 5_000)))
    }

    @Test func theCommandLinePrintsIt() async throws {
        let server = try ServerProcess(mail: false, arguments: ["--storage-quota", "1000000"])
        defer { server.stop() }
        let file = server.folder.appendingPathComponent("ann.json").path
        _ = try await sealkit(["account", "create", "--server", server.origin, "--key-file", file])
        let text = try await sealkit(["account", "status", "--key-file", file])
        #expect(text.hasPrefix("available at \(server.origin)\n0 records, "))
        #expect(text.hasSuffix(" KiB stored of 976.6 KiB\n"), "\(text)")
        let json = try await sealkit(["account", "status", "--key-file", file, "--json"])
        #expect(json.contains("\"bytes\":"))
        #expect(!json.contains("\"bytes\":0"))
        #expect(json.contains("\"bytesLimit\":1000000"))
        #expect(json.contains("\"status\":\"available\""))
    }

    private func sealkit(_ arguments: [String]) async throws -> String {
        let command = try await Command.finished(ServerProcess.executable, arguments)
        #expect(command.status == 0)
        return command.output
    }
}
