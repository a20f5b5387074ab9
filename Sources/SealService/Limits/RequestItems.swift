import SealStatements
import SealWire

/// How many things one request may be about, and one answer hold.
package enum RequestItems {
    /// - Parameter things: what they are, in the plural.
    /// - Throws: `limitExceeded`.
    package static func check(_ count: Int, _ things: String) throws(ServerError) {
        guard count <= Limits.itemsPerRequest else {
            throw ServerError(
                .limitExceeded, "A request takes at most \(Limits.itemsPerRequest) \(things).",
                remedy: "Send half of them at once.")
        }
    }

    /// How many an answer holds.
    /// - Parameter wanted: what the request says; 0 for as many as there may be.
    package static func limit(_ wanted: UInt32) -> Int {
        wanted == 0 ? Limits.itemsPerRequest : min(Int(wanted), Limits.itemsPerRequest)
    }
}
