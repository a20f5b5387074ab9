package import Foundation
import SealWire

/// Where a list goes on that is told by a number: eight bytes, which say nothing to whoever gets them.
package enum ListCursor {
    package static func data(_ number: Int64) -> Data {
        Data((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * Int64($0))) })
    }

    /// Nil for an empty one.
    /// - Throws: `invalidArguments`.
    package static func number(_ cursor: Data) throws(ServerError) -> Int64? {
        guard !cursor.isEmpty else { return nil }
        let number = cursor.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        guard cursor.count == 8, number > 0 else { throw foreign }
        return number
    }

    /// How many entries a page has.
    /// - Parameter asked: 0 for as many as is usual.
    package static func limit(_ asked: UInt32) -> Int { asked == 0 ? 100 : min(Int(clamping: asked), 1_000) }

    package static let foreign = ServerError(
        .invalidArguments, "The cursor is none of this list's.",
        remedy: "Send the cursor of the answer before, or none.")
}
