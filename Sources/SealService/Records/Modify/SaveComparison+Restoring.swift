import SealPrimitives
import SealStatements
import SealWire

/// Records that the server has lost, saved again: their statements follow ones that it does not have any more.
extension SaveComparison {
    /// So many statements of one record it may have lost: whoever writes must not be able to use up the numbers that
    /// there are.
    static let mostLost: UInt64 = 1 << 20

    /// - Returns: nil for a statement that is the next one of what the server has, and is judged as such.
    func restore(
        _ content: RecordBatch.Content, over found: Predecessor?, in share: ZoneShare?, _ claims: inout AssetClaims
    ) throws -> SaveOutcomes.Outcome? {
        let statement = content.statement
        let known = found?.revision ?? 0
        // Of the public database nothing is handed out that would show what was lost.
        guard rights == nil, statement.revision > known + 1, statement.revision - known <= Self.mostLost else {
            return nil
        }
        let live = found.flatMap { $0.isDeleted ? nil : $0 }
        guard content.changeTag == live.map({ ChangeTag.text($0.tag) }) ?? "" else {
            return Self.refused(
                .serverRecordChanged, "The record was changed by somebody else.", "Look it up, and save again.")
        }
        guard statement.kind == .save || live != nil else {
            return Self.refused(
                .unknownItem, "There is no such record any more.", "There is nothing to delete.")
        }
        guard statement.formerScope == nil, live == nil || live?.share == share?.number ?? 0 else {
            return Self.refused(
                .invalidArguments, "What was lost is given back where the record is.",
                "Save it into the scope that the server has it in, then move it.")
        }
        return try accept(content, after: found, in: share, &claims)
    }
}
