import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// The public database has no feed, so that records are asked for by name; each is verified by its author's identity.
    func publicRecords(
        _ zoneID: RecordZone.ID, recordNames: [String]?
    ) async throws(SealKitError) -> ([Verified], [Record.ID: SealKitError], RawExportContent) {
        guard let recordNames, !recordNames.isEmpty else {
            throw SealKitError(
                .invalidArguments, "the public database has no feed to read all of its records from", remedy: "name the records")
        }
        var ground = PublicGround(scope: try zoneScope(zoneID))
        var records: [Verified] = []
        var failures: [Record.ID: SealKitError] = [:]
        var pending = Set(recordNames).sorted()
        while !pending.isEmpty {
            let names = Array(pending.prefix(Limits.itemsPerRequest))
            let request = Sealkit_V1_LookupRecordsRequest.with {
                $0.zone = ground.scope.zoneIDOnWire
                $0.recordNames = names
            }
            let response: Sealkit_V1_LookupRecordsResponse = try await core.call(scope, "records/lookup", request)
            guard response.results.count == names.count else {
                throw SealKitError(.serverRejectedRequest, "the server answered \(response.results.count) of \(names.count) records")
            }
            ground = try await ground.with(response.authors, core)
            var present: [(wire: Sealkit_V1_Record, name: String?)] = []
            var tooMuch: [String] = []
            for (name, result) in zip(names, response.results) {
                switch result.outcome {
                case .record(let wire): present.append((wire, name))
                case .failure where result.hasServerRecord: present.append((result.serverRecord, name))
                case .failure(let failure) where failure.code == SealKitError.Code.limitExceeded.rawValue && !present.isEmpty:
                    tooMuch.append(name)
                case .failure(let failure): throw SealKitError(failure)
                case nil: throw Database.unknown(Record.ID(recordName: name, zoneID: zoneID))
                }
            }
            let outcomes = try await read(present, zone: zoneID, desiredKeys: nil, ground: .publicDatabase(ground))
            for (record, outcome) in zip(present, outcomes) {
                let found = try outcome.get()
                if case .unopened(let there) = found {
                    failures[there.record.recordID] = there.error
                } else {
                    records.append((record.wire, found))
                }
            }
            // Large records do not all fit into one answer.
            pending = tooMuch + pending.dropFirst(names.count)
        }
        var content = RawExportContent(publicDatabase: ground.scope)
        content.authors = Set(records.compactMap(\.outcome.author)).sorted { $0.recordName < $1.recordName }.compactMap {
            ground.authors[$0].map { RawExportContent.Author($0) }
        }
        return (records, failures, content)
    }
}

extension RecordReader.Outcome {
    fileprivate var author: UserID? {
        switch self {
        case .record, .unopened: present?.base?.statement.author
        case .deletion(_, _, let base): base.statement.author
        }
    }
}
