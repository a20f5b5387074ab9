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
    /// - Parameters:
    ///   - wanted: what the request says; 0 for the usual.
    ///   - usual: as many as there may be, for most.
    package static func limit(_ wanted: UInt32, usual: Int = Limits.itemsPerRequest) -> Int {
        wanted == 0 ? usual : min(Int(wanted), Limits.itemsPerRequest)
    }
}
