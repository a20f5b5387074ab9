import SealKit

extension Database {
    /// The version of one record that a restored server has.
    func restoredRecord(for id: Record.ID) async throws(SealKitError) -> Record {
        guard let result = try await restoredRecords(for: [id])[id] else {
            throw SealKitError.lacking("the record")
        }
        return try result.get()
    }
}
