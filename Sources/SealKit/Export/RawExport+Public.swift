import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// The public database has no feed, so that records are asked for by name; each is verified by its author's identity.
    func publicRecords(
        _ zoneID: RecordZone.ID, recordNames: [String]?
    ) async throws(SealKitError) -> ([Verified], RawExportContent) {
        guard let recordNames, !recordNames.isEmpty else {
            throw SealKitError(
                .invalidArguments, "the public database has no feed to read all of its records from", remedy: "name the records")
        }
        var ground = PublicGround(scope: try zoneScope(zoneID))
        var records: [Verified] = []
        var pending = Set(recordNames).sorted()
        while !pending.isEmpty {
            let names = Array(pending.prefix(Limits.itemsPerRequest))
            let request = Sealkit_V1_LookupRecordsRequest.with {
                $0.zone = ground.scope.zoneIDOnWire
                $0.recordNames = names
            }
            ground.asked = try await core.trust.moment()
            let response: Sealkit_V1_LookupRecordsResponse = try await core.call(scope, "records/lookup", request)
            guard response.results.count == names.count else {
                throw SealKitError(.serverRejectedRequest, "the server answered \(response.results.count) of \(names.count) records")
            }
            ground = try await ground.with(response.authors, core)
            var present: [(wire: Sealkit_V1_Record, name: String?)] = []
            var again: [String] = []
            for (name, result) in zip(names, response.results) {
                switch result.outcome {
                case .record(let wire): present.append((wire, name))
                case .failure where result.hasServerRecord: present.append((result.serverRecord, name))
                case .failure(let failure) where failure.code == SealKitError.Code.limitExceeded.rawValue && !present.isEmpty:
                    again.append(name)
                case .failure(let failure): throw SealKitError(failure)
                case nil: throw Database.unknown(Record.ID(recordName: name, zoneID: zoneID))
                }
            }
            let outcomes = try await read(
                present, zone: zoneID, desiredKeys: nil, ground: .publicDatabase(ground), asksAgain: false)
            for (record, outcome) in zip(present, outcomes) {
                if case .failure(let error) = outcome, error.code == .serverRecordChanged {
                    again.append(record.wire.recordName)
                } else {
                    records.append((record.wire, try outcome.get()))
                }
            }
            // Large records do not all fit into one answer, and what was written meanwhile is not in it.
            pending = again + pending.dropFirst(names.count)
        }
        var content = RawExportContent(publicDatabase: ground.scope)
        content.authors = Set(records.compactMap(\.outcome.author)).sorted { $0.recordName < $1.recordName }.compactMap {
            ground.authors[$0].map { RawExportContent.Author($0) }
        }
        return (records, content)
    }
}

extension RecordReader.Outcome {
    fileprivate var author: UserID? {
        switch self {
        case .record(let record): record.base?.statement.author
        case .deletion(_, _, let base): base.statement.author
        }
    }
}
