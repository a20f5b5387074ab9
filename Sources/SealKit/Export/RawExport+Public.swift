import SealClient
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// The public database has no feed, so that records are asked for by name; each is verified by its author's
    /// identity.
    func publicRecords(
        _ zoneID: RecordZone.ID, recordNames: [String]?
    ) async throws(SealKitError) -> ([Verified], [Record.ID: SealKitError], RawExportContent) {
        guard let recordNames, !recordNames.isEmpty else {
            throw SealKitError(
                .invalidArguments, "the public database has no feed to read all of its records from",
                remedy: "name the records")
        }
        let ids = Set(recordNames).sorted().map { Record.ID(recordName: $0, zoneID: zoneID) }
        let answer = try await find(
            ids, in: zoneID, from: .publicDatabase(PublicGround(scope: try zoneScope(zoneID), asked: nil)),
            desiredKeys: nil)
        guard case .publicDatabase(let ground) = answer.ground else { throw Database.unanswered(ids[0]) }
        var records: [Verified] = []
        var failures: [Record.ID: SealKitError] = [:]
        for one in answer.found {
            let outcome = try one.outcome.get()
            guard let wire = one.wire else { throw Database.unanswered(one.id) }
            if case .unopened(let there) = outcome {
                failures[one.id] = there.error
            } else {
                records.append((wire, outcome))
            }
        }
        var content = RawExportContent(publicDatabase: ground.scope)
        content.authors = Set(records.compactMap(\.outcome.author)).sorted { $0.recordName < $1.recordName }.compactMap
        {
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
