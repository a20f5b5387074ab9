import Foundation
import SealPrimitives
import SealStatements
import SealWire

extension Database {
    /// Begins to save and delete records, for as long as it takes, whatever becomes of this process (<doc:LongLived>).
    ///
    /// When it returns, what is to be done is on the disk, and nothing of it has been sent yet:
    /// ``LongLivedModification/results(progress:perRecordProgress:)`` does that, in this process or in a later one, by
    /// the configuration that this call goes by. New assets' files stay where they are until then.
    ///
    /// ```swift
    /// let operation = try await database.beginModifyingRecords(saving: notes)
    /// let results = try await operation.results()
    /// try keep(results.saveResults)
    /// try await operation.end()
    /// ```
    /// - Parameters: as of ``modifyRecords(saving:deleting:savePolicy:atomically:progress:perRecordProgress:)``.
    /// - Throws: `invalidArguments` for a container without a journal, for what `modifyRecords` would fail a record
    ///   for before it sends anything, for an asset whose file lies in the SDK's temporary folder, for the deletion of
    ///   a zone's share, and for time-outs that cannot be kept; `limitExceeded` above 400 items, or for more than the
    ///   journal holds; `storageFull`.
    public func beginModifyingRecords(
        saving: [Record] = [], deleting: [Record.ID] = [], savePolicy: SavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true
    ) async throws(SealKitError) -> LongLivedModification {
        try await beginModifyingRecords(
            saving: saving, deleting: deleting, savePolicy: savePolicy, atomically: atomically, operationID: nil)
    }

    /// - Parameter operationID: 32 hexadecimal digits, another one for each operation; nil makes one.
    package func beginModifyingRecords(
        saving: [Record], deleting: [Record.ID], savePolicy: SavePolicy, atomically: Bool, operationID: String?
    ) async throws(SealKitError) -> LongLivedModification {
        try Database.checkCount(saving.count + deleting.count)
        let ids = saving.map(\.recordID) + deleting
        try RecordRules.checkNames(ids)
        for zone in Set(ids.map(\.zoneID)) { _ = try zoneScope(zone) }
        for record in saving {
            try RecordRules.check(record)
            try record.checkFilesLast(in: scope)
        }
        guard !deleting.contains(where: { $0.recordName == Share.recordName }) else {
            throw SealKitError(
                .invalidArguments, "the end of a zone's share is no part of a long-lived operation",
                remedy: "delete it with deleteRecord(withID:)")
        }
        let content = JournaledInput.Content.modification(
            saving: saving, deleting: deleting, savePolicy, isAtomic: atomically)
        let (rows, input) = try await begin(content, operationID: operationID)
        return LongLivedModification(
            database: self, rows: rows, input: input, saving: saving, deleting: deleting, savePolicy: savePolicy,
            isAtomic: atomically)
    }

    func begin(
        _ content: JournaledInput.Content, operationID: String? = nil
    ) async throws(SealKitError) -> (rows: OperationRows, input: JournaledInput) {
        try core.requireAccess(to: scope)
        guard let journal = core.journal else {
            throw SealKitError(
                .invalidArguments, "this container keeps no journal of operations",
                remedy: "give it, or its account provider's signIn, an OperationJournal")
        }
        let configuration = OperationContext.current.chosen
        try configuration?.check()
        let input = JournaledInput(
            container: core.identifier, environment: core.environment, scope: scope, started: currentTime(),
            configuration: configuration, content: content)
        let bytes: [UInt8]
        do throws(SealError) {
            bytes = try input.bytes()
            // What could not be read back later would only then be told as damage.
            _ = try JournaledInput(bytes)
        } catch {
            throw SealKitError(
                .invalidArguments, "the operation cannot be kept (\(error))",
                remedy: "lists hold values of one kind, and names are plain")
        }
        var random = SystemRandom()
        let id: ID16
        if let operationID {
            guard let given = (try? Hex.decode(operationID)).flatMap({ try? ID16($0) }) else {
                throw SealKitError(
                    .invalidArguments, "an operation's id has 32 hexadecimal digits", remedy: "give one that has")
            }
            id = given
        } else {
            id = ID16(random: &random)
        }
        let rows = OperationRows(journal: journal, seal: JournalSeal(account: core.account), id: id)
        try await rows.begin(bytes)
        return (rows, input)
    }
}

extension Record {
    /// - Throws: `invalidArguments` for a file that the process takes along.
    fileprivate func checkFilesLast(in scope: Database.Scope) throws(SealKitError) {
        for (key, state) in fields {
            guard case .asset(let asset) = state, !asset.isStored(as: key, of: recordID, in: scope),
                let file = asset.fileURL,
                file.standardizedFileURL.path.hasPrefix(TemporaryAssets.folder.standardizedFileURL.path + "/")
            else { continue }
            throw SealKitError(
                .invalidArguments,
                "the asset \(key) of record \(recordID.recordName) has its file in a folder that goes with this process",
                remedy: "move the file to where it stays until the operation has its results")
        }
    }
}
