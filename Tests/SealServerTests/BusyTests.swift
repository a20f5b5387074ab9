import AsyncHTTPClient
import Dispatch
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SealKit
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// A server that has too much to do, or is about to end, as the SDK meets it.
@Suite(.timeLimit(.minutes(60))) struct BusyTests {
    private static let impatient = OperationConfiguration(timeoutIntervalForResource: 0.5)

    private static func database(_ server: RunningServer) async throws -> (SealKit.Database, RecordZone.ID) {
        let account = try await Account.create(transport: HTTPTransport(server: server.origin), deviceName: "test")
            .account
        let database = try Container(TestClient.container, account: account).privateDatabase
        return (database, try await database.save(RecordZone(zoneName: "notes")).zoneID)
    }

    private static func failure(_ body: () async throws -> Void) async -> SealKitError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? SealKitError
        }
    }

    /// The writer is held, one write waits, and no more may: the next ones are refused at once, unbegun.
    @Test func writesThatWouldWaitTooLongAreRefusedAsZoneBusy() async throws {
        try await RunningServer.with(mostWaitingWrites: 1, runsTwice: false) { server in
            let (database, zone) = try await Self.database(server)
            let storage = server.services.database
            let hold = DispatchSemaphore(value: 0)
            let (entered, entry) = AsyncStream<Void>.makeStream()
            let holding = Task {
                try await storage.write(at: .everything) { _ in
                    entry.yield()
                    hold.wait()
                }
            }
            for await _ in entered { break }
            let refused = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do {
                            try await storage.write(at: .everything) { _ in }
                            return false
                        } catch {
                            return (error as? StorageError) == .busy
                        }
                    }
                }
                // All but the one that waits.
                var refused = 0
                while refused < 7, await group.next() == true { refused += 1 }
                let record = Record(recordType: "Note", recordID: Record.ID(recordName: "note", zoneID: zone))
                let error = await Self.failure {
                    _ = try await database.configuredWith(configuration: Self.impatient) { try await $0.save(record) }
                }
                #expect(error?.code == .zoneBusy)
                #expect(error?.retryAfter == 1)
                hold.signal()
                return refused
            }
            #expect(refused == 7)
            try await holding.value
            // The SDK waits for its turn by itself, and nothing of the refused save was stored.
            let record = Record(recordType: "Note", recordID: Record.ID(recordName: "note", zoneID: zone))
            #expect(try await database.save(record).recordChangeTag != nil)
        }
    }

    /// One asset may be on the server before its record; a second one has to wait for it.
    @Test func moreThanMayBeStagedIsOverQuota() async throws {
        var limits = AbuseLimits()
        limits.stagedBlobsPerAccount = 1
        try await RunningServer.with(limits: limits) { server in
            let (database, zone) = try await Self.database(server)
            let file = URL(fileURLWithPath: server.folder.file("original"))
            try Data(repeating: 7, count: 100_000).write(to: file)
            var record = Record(recordType: "Note", recordID: Record.ID(recordName: "note", zoneID: zone))
            record["one"] = Asset(fileURL: file)
            record["two"] = Asset(fileURL: file)
            let both = record
            let refused = await Self.failure { try await database.save(both) }
            #expect(refused?.code == .quotaExceeded)
            let absent = await Self.failure { _ = try await database.record(for: both.recordID) }
            #expect(absent?.code == .unknownItem)
        }
    }

    @Test func aServerThatShutsDownIsUnavailable() async throws {
        try await RunningServer.with { server in
            let (database, _) = try await Self.database(server)
            try await server.services.database.close()
            let error = await Self.failure {
                _ = try await database.configuredWith(configuration: Self.impatient) { try await $0.allRecordZones() }
            }
            #expect(error?.code == .serviceUnavailable)
            #expect(error?.retryAfter == 2)
        }
    }

    @Test(arguments: ["2", "0", "1.1", "", "x"]) func anotherVersionOfTheWireFormatIsRefusedBeforeAnythingIsRead(
        version: String
    ) async throws {
        try await RunningServer.with { server in
            var request = HTTPClientRequest(url: server.origin + "/1/accounts/challenge")
            request.method = .POST
            request.headers.add(name: "content-type", value: "application/x-protobuf")
            request.headers.add(name: "accept", value: "application/x-protobuf")
            request.headers.add(name: "sealkit-wire-version", value: version)
            request.body = .bytes(ByteBuffer(string: "not a message"))
            let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
            let failure = try Sealkit_V1_Failure(
                serializedBytes: Data(buffer: try await answer.body.collect(upTo: 10_000)))
            #expect(answer.status == .badRequest)
            #expect(failure.errorCode == .incompatibleVersion)
        }
    }
}
