import Foundation
import SealKit
import SealLab
import SealWire
import SwiftProtobuf

/// Somebody with an account, whose requests are kept instead of sent. Each zone has a record named "found".
struct BenchmarkPerson {
    static let container = "org.sealkit.bench"
    /// A note of some hundred bytes.
    private static let text = String(repeating: "0123456789", count: 20)

    private let transport: CapturingTransport
    private let database: Database
    private let zones: [String: RecordZone.ID]
    private let token: String

    init(_ server: ServerProcess, zones names: [String] = ["bench"]) async throws {
        let transport = CapturingTransport(try HTTPTransport(server: server.origin))
        let account = try await Account.create(transport: transport, deviceName: "bench").account
        let database = try Container(Self.container, account: account).privateDatabase
        var zones: [String: RecordZone.ID] = [:]
        for name in names {
            let zone = try await database.save(RecordZone(zoneName: name)).zoneID
            try await database.save(Self.record("found", zone))
            zones[name] = zone
        }
        let sample = zones.values.first ?? .default
        let captured = try await transport.capture { _ = try await database.save(Self.record("token", sample)) }
        (self.transport, self.database, self.zones, token) = (transport, database, zones, captured.first?.token ?? "")
    }

    private static func record(_ name: String, _ zone: RecordZone.ID) -> Record {
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: zone))
        record.encryptedValues["text"] = text
        return record
    }

    /// The request that saves one new record.
    func save(_ name: String, zone: String = "bench") async throws -> [UInt8] { try await save([name], zone: zone) }

    /// The request that saves several.
    func save(_ names: [String], zone: String = "bench") async throws -> [UInt8] {
        let captured = try await transport.capture {
            _ = try await database.modifyRecords(saving: names.map { Self.record($0, zones[zone] ?? .default) })
        }
        guard let request = captured.first, captured.count == 1 else { throw Missing(requests: 1) }
        return HTTPConnection.request(path: request.path, body: request.body, token: request.token)
    }

    /// Of each, the requests that save so many new records one by one. They are made in the order in which they will
    /// come, as when each is sent at once.
    static func saves(_ count: Int, named name: String, of people: [BenchmarkPerson]) async throws -> [[[UInt8]]] {
        var requests: [[[UInt8]]] = Array(repeating: [], count: people.count)
        for index in 0..<count {
            for (own, person) in people.enumerated() {
                requests[own].append(try await person.save("\(name)-\(index)"))
            }
        }
        return requests
    }

    /// Whether an answer says that the record is there.
    @Sendable static func isSaved(_ status: Int, _ body: Data) -> Bool {
        guard status == 200, let answer = try? Sealkit_V1_ModifyRecordsResponse(serializedBytes: body) else {
            return false
        }
        if case .record = answer.results.first?.outcome { return true }
        return false
    }

    struct Missing: Error { let requests: Int }

    /// Really saved, in one batch.
    func save(_ count: Int, in zone: String) async throws {
        let id = zones[zone] ?? .default
        let results = try await database.modifyRecords(saving: (0..<count).map { Self.record("change-\($0)", id) })
        for result in results.saveResults.values { _ = try result.get() }
    }

    /// A look-up of one record that is there.
    func lookup(zone: String = "bench") throws -> [UInt8] {
        try request(
            "records/lookup",
            Sealkit_V1_LookupRecordsRequest.with {
                $0.zone.zoneName = zone
                $0.recordNames = ["found"]
            })
    }

    func changes(in zone: String, since position: Data, keys: [String]? = nil) throws -> [UInt8] {
        try request(
            "records/changes",
            Sealkit_V1_RecordChangesRequest.with {
                $0.zone.zoneName = zone
                $0.token = position
                if let keys { $0.desiredKeys.names = keys }
            })
    }

    /// A request for the stream of what is told.
    func notifications() -> [UInt8] {
        HTTPConnection.request(
            "GET", path: "/database/1/\(Self.container)/development/notifications", body: Data(), token: token)
    }

    private func request(_ call: String, _ message: some Message) throws -> [UInt8] {
        try post("/database/1/\(Self.container)/development/private/\(call)", message)
    }

    func post(_ path: String, _ message: some Message) throws -> [UInt8] {
        HTTPConnection.request(path: path, body: try message.serializedData(), token: token)
    }
}
