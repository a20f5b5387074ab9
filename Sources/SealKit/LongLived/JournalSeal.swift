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

    /// What was sealed before the account took new keys opens with those before.
    /// - Throws: `authenticationFailed`.
    func open(_ row: OperationJournal.Row, of id: ID16) throws(SealError) -> [UInt8] {
        for seed in account.seeds.reversed() {
            let opened = try? StorageBox.open(
                row.sealed, purpose: Self.purpose, context: Self.context(id, row.name), under: seed.storageKey())
            if let opened { return opened.copyBytes() }
        }
        throw .authenticationFailed
    }
}
