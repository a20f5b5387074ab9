import Foundation
import SealClient
import SealStatements
import SealWire
import SwiftProtobuf

/// A page of what this user has made in the public database.
struct CreatedRecords: Sendable {
    /// In the order of their names.
    var results: [(Record.ID, Result<Record, SealKitError>)] = []
    /// More comes after the last of them.
    let moreComing: Bool
}

extension Database {
    /// This user's own records of the public database whose names come after one, each verified as when it is looked
    /// up. Such a record was made by this user, says its signed statement; whoever changed it last may be somebody
    /// else.
    ///
    /// What the server leaves out cannot be noticed: the public database has no roster and no feed.
    /// - Parameter name: empty to begin.
    /// - Throws: `serverRejectedRequest` for names out of their order, so that no server goes in circles;
    ///   `integrityFailure` for what is no name.
    func createdRecords(after name: String) async throws(SealKitError) -> CreatedRecords {
        let zone = RecordZone.ID.default
        let asked = try await core.trust.moment()
        let request = Sealkit_V1_CreatedRecordsRequest.with { $0.after = name }
        let response: Sealkit_V1_CreatedRecordsResponse = try await core.call(scope, Endpoints.records.created, request)
        let names = response.results.map(\.recordName)
        guard names.allSatisfy(Names.isPlain) else {
            throw await core.noted(
                SealKitError(
                    .integrityFailure,
                    "the server names a record of the public database by what is no record's name",
                    remedy: "try again; distrust a server that keeps doing so"))
        }
        var listing = OrderedListing(after: name)
        do throws(ClientError) { try listing.take(names, isMoreComing: response.moreComing) } catch {
            throw SealKitError(
                .serverRejectedRequest,
                "the server names this user's records of the public database out of their order, or says that more is coming after none",
                remedy: "try again; distrust a server that keeps doing so")
        }
        let ground = try await PublicGround(scope: try zoneScope(zone), asked: asked).with(response.authors, core)
        var present: [Sealkit_V1_Record] = []
        var presentNames: [String] = []
        for result in response.results {
            guard case .record(let wire)? = result.outcome else { continue }
            present.append(wire)
            presentNames.append(result.recordName)
        }
        var read = try await read(
            present, named: presentNames, zone: zone, desiredKeys: nil, ground: .publicDatabase(ground)
        ).makeIterator()
        var page = CreatedRecords(moreComing: response.moreComing)
        for result in response.results {
            let id = Record.ID(recordName: result.recordName, zoneID: zone)
            switch result.outcome {
            case .record: page.results.append((id, await own(read.next() ?? .failure(Database.unknown(id)), id)))
            case .failure(let failure) where failure.code == SealKitError.Code.permissionFailure.rawValue:
                page.results.append((id, .failure(SealKitError(failure))))
            case .failure(let failure): throw SealKitError(failure)
            case nil:
                throw SealKitError(
                    .serverRejectedRequest, "the server names record \(id.recordName), and says nothing of it")
            }
        }
        return page
    }

    /// Only what is there, and what this user has made by its own signed statement.
    private func own(_ outcome: Outcome, _ id: Record.ID) async -> Result<Record, SealKitError> {
        let what: String
        switch outcome {
        case .failure(let error): return .failure(error)
        case .success(.unopened(let there)): return .failure(there.error)
        case .success(.deletion): what = "is deleted, and was given as one that is there"
        case .success(.record(let record)):
            guard record.creatorUserRecordID?.recordName != core.userID().recordName else { return .success(record) }
            what = "was given as this user's, and somebody else has made it"
        }
        let error = SealKitError(
            .integrityFailure, "record \(id.recordName) \(what)",
            remedy: "the server's index is damaged, or it answers as it likes; nothing of it was taken over")
        return .failure(await core.noted(error, zone: id.zoneID, record: id.recordName))
    }
}
