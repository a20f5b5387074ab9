import SealClient
import SealPrimitives
import SealStatements
import SealWire

/// Going on with a batch that another process has begun.
extension ZoneBatch {
    /// Takes in what has become of the request that was sent last, as far as the server or its records tell; whatever
    /// has no result then goes as if it had never been sent.
    mutating func takeUp(_ kept: KeptRequest) async throws(SealKitError) {
        take(kept.before)
        let sent = try signed(kept)
        let isRepeatable = kept.isRepeatable(at: currentTime())
        let open =
            isRepeatable
            ? try await takeStored(
                sent, try await again(kept), signature: [UInt8](kept.message.signature))
            : sent
        try await judge(open, isRepeatable: isRepeatable)
    }

    /// The same request once more.
    /// - Returns: the server's results; none where it refuses the request as a whole, and so has not done it.
    private func again(_ kept: KeptRequest) async throws(SealKitError) -> [Sealkit_V1_RecordResult] {
        let response: Sealkit_V1_ModifyRecordsResponse
        do throws(SealKitError) {
            response = try await database.core.call(
                database.scope, Endpoints.records.modify, encoded: kept.request)
        } catch let error where !error.concernsWholeRequest {
            return []
        }
        guard response.results.count == kept.message.records.count else {
            throw SealKitError(
                .serverRejectedRequest,
                "the server answered \(response.results.count) of \(kept.message.records.count) records")
        }
        return response.results
    }

    private mutating func take(_ results: ModificationResults) {
        saveResults.merge(results.saves) { $1 }
        deleteResults.merge(results.deletions) { $1 }
    }

    private func signed(_ kept: KeptRequest) throws(SealKitError) -> [Sent] {
        guard let journal else { return [] }
        return try journal.rows.reading { () throws(SealError) in
            var sent: [Sent] = []
            for (index, (wire, saved)) in zip(kept.message.records, kept.saved).enumerated() {
                sent.append(
                    Sent(
                        id: Record.ID(recordName: wire.recordName, zoneID: zoneID), record: saved?.record,
                        signed: try SignedRecord(wire, recordKey: saved?.key), taken: kept.taken[index]))
            }
            return sent
        }
    }

    /// - Parameter results: none, or one for each.
    /// - Returns: those that were not stored by the request, as the server says.
    private mutating func takeStored(
        _ sent: [Sent], _ results: [Sealkit_V1_RecordResult], signature: [UInt8]
    ) async throws(SealKitError) -> [Sent] {
        guard !results.isEmpty else { return sent }
        var stored: [Sent] = []
        var open: [Sent] = []
        for (one, result) in zip(sent, results) {
            if result.stores(one.id.recordName) { stored.append(one) } else { open.append(one) }
        }
        guard !stored.isEmpty else { return open }
        try await acknowledge(sent, signature: signature, results, ground: try await groundOfStored())
        if stored.contains(where: { $0.signed.statement.formerScope != nil }) { await database.settleQuietly(zoneID) }
        return open
    }

    /// Where own records that were stored are remembered; nil where the zone is gone meanwhile.
    private func groundOfStored() async throws(SealKitError) -> RecordGround? {
        guard database.scope != .public else {
            return .publicDatabase(PublicGround(scope: try database.zoneScope(zoneID), asked: nil))
        }
        do throws(SealKitError) {
            return .zone(try await database.groundForWriting(zoneID))
        } catch let error where error.code == .zoneNotFound {
            return nil
        }
    }

    /// Holds what has no result against what is stored: a record under the very statement that was sent is saved,
    /// whatever the server answers. Where the request is too old to be repeated, nothing tells whether what is there
    /// has come before it or after: that is for the app to merge, under every policy.
    private mutating func judge(_ open: [Sent], isRepeatable: Bool) async throws(SealKitError) {
        let open = open.filter { !isStored($0.id) }
        guard !open.isEmpty else { return }
        let sent = Dictionary(open.map { ($0.id, $0) }) { first, _ in first }
        let found: [(Record.ID, Database.Outcome)]
        do throws(SealKitError) {
            found = try await database.look(up: open.map(\.id), desiredKeys: nil)
        } catch let error where error.code == .zoneNotFound {
            // The batch says so of its items.
            return
        }
        for (id, outcome) in found {
            guard let one = sent[id], case .success(let there) = outcome, let present = there.written else { continue }
            let told = WriteRepetition.judge(
                one.signed.statement, hash: one.signed.hash, over: present, isRepeatable: isRepeatable)
            switch told {
            case .isGone: deleteResults[id] = .success(())
            case .stored:
                guard let record = one.record, var saved = there.present else { continue }
                // What it opens is what was sealed: the values are at hand, and files of assets where they were.
                saved.fields = record.fields
                saveResults[id] = .success(saved)
            case .mayHaveComeLater:
                fail(id, one.record, Self.mayHaveComeLater(id, there: there.present, one.record))
            case .open: continue
            }
        }
    }

    private mutating func fail(_ id: Record.ID, _ record: Record?, _ error: SealKitError) {
        if record == nil { deleteResults[id] = .failure(error) } else { saveResults[id] = .failure(error) }
    }

    private static func mayHaveComeLater(_ id: Record.ID, there: Record?, _ record: Record?) -> SealKitError {
        SealKitError(
            .serverRecordChanged,
            "record \(id.recordName) was sent more than \(OperationJournal.serversDayHours) hours ago; \(there == nil ? "it was deleted, which" : "what is stored now") may have come after that",
            remedy: there == nil
                ? "save it as a new record where it is wanted" : "merge into serverRecord and save that",
            serverRecord: there, clientRecord: record)
    }
}
