/// What `Database.modifyRecords(saving:deleting:savePolicy:atomically:progress:perRecordProgress:)` saves: a `Record`
/// or a `Share`, in any mixture, as CloudKit takes them, where a share is a kind of record.
public protocol SavableRecord: Sendable {
    /// Its name and its zone.
    var recordID: Record.ID { get }
}

extension Record: SavableRecord {}
extension Share: SavableRecord {}

extension Database {
    /// Saves records and shares, and deletes records, under every policy, in the private and the shared database:
    /// `modifyRecords(saving:shares:deleting:savePolicy:atomically:progress:perRecordProgress:)` of the two sorted
    /// apart.
    ///
    /// ```swift
    /// let share = Share(rootRecord: root)
    /// try await database.modifyRecords(saving: [root, share], deleting: [])
    /// ```
    /// - Returns: a result for each id: a `Record` for a record, a `Share` for a share.
    /// - Throws: `invalidArguments` where one id is saved twice; as `modifyRecords(saving:deleting:)`.
    // An array of records alone goes to the one for records, whose results are records.
    @_disfavoredOverload
    @discardableResult
    public func modifyRecords(
        saving: [any SavableRecord], deleting: [Record.ID] = [], savePolicy: SavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true, progress: (@Sendable (_ sent: Int64, _ total: Int64) -> Void)? = nil,
        perRecordProgress: RecordProgress? = nil
    ) async throws(SealKitError) -> (
        saveResults: [Record.ID: Result<any SavableRecord, SealKitError>],
        deleteResults: [Record.ID: Result<Void, SealKitError>]
    ) {
        try RecordRules.checkNames(saving.map(\.recordID) + deleting)
        let results = try await modifyRecords(
            saving: saving.compactMap { $0 as? Record }, shares: saving.compactMap { $0 as? Share }, deleting: deleting,
            savePolicy: savePolicy, atomically: atomically, progress: progress, perRecordProgress: perRecordProgress)
        let saved = results.saveResults.mapValues { $0.map { $0 as any SavableRecord } }
        let shared = results.shareResults.mapValues { $0.map { $0 as any SavableRecord } }
        return (saved.merging(shared) { $1 }, results.deleteResults)
    }
}
