/// What is wrong with one record of a batch fails that record: the others are saved without it, or in an atomic batch
/// fail with it.
extension ZoneBatch {
    /// Those that a check lets pass; the others have failed.
    mutating func passing(_ records: [Record], _ check: (Record) throws(SealKitError) -> Void) -> [Record] {
        var passing: [Record] = []
        passing.reserveCapacity(records.count)
        for record in records {
            do throws(SealKitError) {
                try check(record)
                passing.append(record)
            } catch {
                fail(.save(record), error)
            }
        }
        return passing
    }

    /// Whether any item has failed so far.
    var hasFailed: Bool {
        saveResults.values.contains(where: \.isFailure) || deleteResults.values.contains(where: \.isFailure)
    }

    /// Before anything is sent: an atomic batch of which one item has failed ends there.
    /// - Returns: whether there is something left to do.
    mutating func goesOn(saving: [Record], deleting: [Record.ID]) -> Bool {
        if isAtomic, hasFailed {
            for record in saving where saveResults[record.recordID] == nil {
                fail(.save(record), ZoneBatch.batchFailed)
            }
            for id in deleting where deleteResults[id] == nil { deleteResults[id] = .failure(ZoneBatch.batchFailed) }
        }
        return saving.contains { saveResults[$0.recordID] == nil } || deleting.contains { deleteResults[$0] == nil }
    }
}

extension Result {
    var isSuccess: Bool { if case .success = self { true } else { false } }
    var isFailure: Bool { if case .failure = self { true } else { false } }
}

extension SealKitError {
    /// It is of one asset, and says nothing of the others.
    var concernsOneAsset: Bool {
        [.assetFileNotFound, .assetFileModified, .assetNotAvailable, .limitExceeded, .quotaExceeded].contains(code)
    }
}
