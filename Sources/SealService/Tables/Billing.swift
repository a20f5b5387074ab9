/// What a row counts: the length of its values that vary, and a fixed amount for all else: names, numbers, and its
/// places in indexes.
package struct Billing: Sendable {
    /// Bytes that each row counts beside its values.
    package static let rowOverhead: Int64 = 512
    /// The same for a record: its statement, proof and place.
    package static let recordOverhead: Int64 = 1_024

    /// Columns whose lengths count.
    let values: [String]
    /// Columns that hold numbers of bytes themselves: the first that is not null counts.
    let amounts: [String]
    let overhead: Int64
    /// What tells live rows, where rows count as records.
    let isRecord: String?
    /// Only what the triggers have to notice of it; the rest its writers report themselves.
    let isReported: Bool
    /// Whether whose a row is may become another one.
    let moves: Bool

    init(
        values: [String], amounts: [String] = [], overhead: Int64 = rowOverhead, isRecord: String? = nil,
        isReported: Bool = false, moves: Bool = false
    ) {
        self.values = values
        self.amounts = amounts
        self.overhead = overhead
        self.isRecord = isRecord
        self.isReported = isReported
        self.moves = moves
    }
}
