import Foundation
import SealKit
import SealWire
import SwiftProtobuf

/// Finds and changes records in whatever answer shows them: look-ups, both kinds of feed, queries, and what comes back
/// of a save that met another one.
enum RecordAnswers {
    /// Changes each record of a zone that is shown.
    static func change(
        _ zone: RecordZone.ID, _ call: TestNetwork.Call, _ response: inout TransportResponse,
        _ change: (inout Sealkit_V1_Record) async throws -> Void
    ) async throws {
        guard response.status < 400 else { return }
        if call.isTo("records/lookup") {
            guard zone.isNamed(by: try Sealkit_V1_LookupRecordsRequest(serializedBytes: call.body).zone, call.path)
            else { return }
            try await response.rewrite(Sealkit_V1_LookupRecordsResponse.self) { answer in
                for index in answer.results.indices {
                    if case .record = answer.results[index].outcome { try await change(&answer.results[index].record) }
                }
            }
        } else if call.isTo("records/changes") {
            guard zone.isNamed(by: try Sealkit_V1_RecordChangesRequest(serializedBytes: call.body).zone, call.path)
            else { return }
            try await response.rewrite(Sealkit_V1_RecordChangesResponse.self) { answer in
                for index in answer.records.indices { try await change(&answer.records[index]) }
            }
        } else if call.isTo("changes/zone") {
            try await response.rewrite(Sealkit_V1_ZonesRecordChangesResponse.self) { answer in
                for place in answer.zones.indices where zone.isNamed(by: answer.zones[place].zone, call.path) {
                    guard case .changes = answer.zones[place].outcome else { continue }
                    for index in answer.zones[place].changes.records.indices {
                        try await change(&answer.zones[place].changes.records[index])
                    }
                }
            }
        } else if call.isTo("records/query") {
            guard zone.isNamed(by: try Sealkit_V1_QueryRecordsRequest(serializedBytes: call.body).zone, call.path)
            else { return }
            try await response.rewrite(Sealkit_V1_QueryRecordsResponse.self) { answer in
                for index in answer.matches.indices { try await change(&answer.matches[index].record) }
            }
        } else if call.isTo("records/modify") {
            guard zone.isNamed(by: try Sealkit_V1_ModifyRecordsRequest(serializedBytes: call.body).zone, call.path)
            else { return }
            try await response.rewrite(Sealkit_V1_ModifyRecordsResponse.self) { answer in
                for index in answer.results.indices where answer.results[index].hasServerRecord {
                    try await change(&answer.results[index].serverRecord)
                }
            }
        }
    }

    /// Changes what is shown of one record.
    static func change(
        _ id: Record.ID, _ call: TestNetwork.Call, _ response: inout TransportResponse,
        _ change: (inout Sealkit_V1_Record) async throws -> Void
    ) async throws {
        try await self.change(id.zoneID, call, &response) { record in
            if record.recordName == id.recordName, !record.deleted { try await change(&record) }
        }
    }

    /// Look-ups answer with another result for this record.
    static func replace(
        _ id: Record.ID, _ call: TestNetwork.Call, _ response: inout TransportResponse,
        _ result: (inout Sealkit_V1_RecordResult) async throws -> Void
    ) async throws {
        guard call.isTo("records/lookup"), response.status < 400,
            id.zoneID.isNamed(by: try Sealkit_V1_LookupRecordsRequest(serializedBytes: call.body).zone, call.path)
        else { return }
        try await response.rewrite(Sealkit_V1_LookupRecordsResponse.self) { answer in
            for index in answer.results.indices where answer.results[index].name == id.recordName {
                try await result(&answer.results[index])
            }
        }
    }

    /// What a server says of one record when it is asked in the name of whoever asks for this zone now.
    static func lookUp(
        _ name: String, zone: Sealkit_V1_ZoneID, _ call: TestNetwork.Call, at server: any Transport
    ) async throws -> Sealkit_V1_RecordResult {
        let path = call.path.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
        let request = Sealkit_V1_LookupRecordsRequest.with {
            $0.zone = zone
            $0.recordNames = [name]
        }
        let response = try await server.post(
            path + "/records/lookup", body: try request.serializedData(), token: call.token)
        guard response.status < 400 else { throw response.failure }
        let answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: response.body)
        guard let result = answer.results.first else { throw NothingToShow() }
        return result
    }

    /// What the lie is to be made of was not there.
    struct NothingToShow: Error {}
}

extension Sealkit_V1_RecordResult {
    /// Whichever record the result is of.
    fileprivate var name: String {
        if case .record(let record) = outcome { return record.recordName }
        return recordName
    }
}

extension RecordZone.ID {
    /// Whether a request or answer means this zone, by the path's database.
    func isNamed(by wire: Sealkit_V1_ZoneID, _ path: String) -> Bool {
        guard wire.zoneName == zoneName else { return false }
        return ownerName == RecordZone.ID.currentUser
            ? path.contains("/private/") : wire.ownerName.isEmpty || wire.ownerName == ownerName
    }

    var onWire: Sealkit_V1_ZoneID {
        .with {
            $0.zoneName = zoneName
            $0.ownerName = ownerName == RecordZone.ID.currentUser ? "" : ownerName
        }
    }
}
