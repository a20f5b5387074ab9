import SealEnvelope
import SealPrimitives

/// Seals the rows of a journal by the account's newest storage key, each for its place.
struct JournalSeal: Sendable {
    private static let purpose = "operation-journal"

    let account: Account

    private static func context(_ id: ID16, _ name: String) -> [UInt8] { id.bytes + Array(name.utf8) }

    func seal(_ plaintext: [UInt8], as name: String, of id: ID16) -> OperationJournal.Row {
        var random = SystemRandom()
        let sealed = StorageBox.seal(
            SecretBytes(copying: plaintext), purpose: Self.purpose, context: Self.context(id, name),
            under: account.seed.storageKey(), random: &random)
        return OperationJournal.Row(name: name, sealed: sealed)
    }

    /// - Throws: `authenticationFailed`.
    func open(_ row: OperationJournal.Row, of id: ID16) throws(SealError) -> [UInt8] {
        try StorageBox.open(
            row.sealed, purpose: Self.purpose, context: Self.context(id, row.name), keptBy: account.seeds
        ).copyBytes()
    }
}
