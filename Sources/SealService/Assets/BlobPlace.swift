package import SealStorage

/// Where a database's blobs are, as it says itself: whoever starts a server with another place, by mistake or after a
/// move, is asked for the blobs first.
package struct BlobPlace: Sendable {
    /// As it is noted: the name of an S3 place; nil for the data folder.
    package let name: String?
    /// A few of the newest finished blobs, for a place that claims to have them.
    package let newest: [(id: BlobID, size: Int64)]

    private static let setting = "blobs"
    private static let sample: Int64 = 20

    package init(of connection: any SQLConnection) throws {
        name = try Self.noted(in: connection)
        newest = try connection.rows(
            "SELECT stored, size FROM blob WHERE size IS NOT NULL ORDER BY created DESC LIMIT $1",
            [.integer(Self.sample)]
        ) { (try $0.text("stored"), try $0.int64("size")) }
        .compactMap { stored, size in BlobID(stored).map { ($0, size) } }
    }

    /// Nil for the data folder.
    package static func noted(in connection: any SQLConnection) throws -> String? { try connection.setting(setting) }

    /// Whether a store has them.
    package func isCovered(by blobs: any BlobStore) async throws -> Bool {
        for blob in newest {
            do {
                guard try await blobs.size(of: blob.id) == blob.size else { return false }
            } catch BlobStoreError.notFound {
                return false
            }
        }
        return true
    }

    /// - Parameter name: nil for the data folder.
    package static func note(_ name: String?, in connection: any SQLConnection) throws {
        try connection.change(setting: setting, to: name)
    }
}
