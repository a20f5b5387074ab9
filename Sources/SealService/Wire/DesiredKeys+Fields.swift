import SealStatements
import SealWire

extension Sealkit_V1_DesiredKeys {
    /// The fields that are wanted.
    /// - Throws: `limitExceeded` for more than a record can have.
    package func fields() throws(ServerError) -> Set<String> {
        guard names.count <= Limits.fieldsPerRecord else {
            throw ServerError(
                .limitExceeded, "More fields are named than a record has: \(Limits.fieldsPerRecord).",
                remedy: "Name fewer, or none for all of them.")
        }
        return Set(names)
    }
}
