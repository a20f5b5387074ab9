package import SealPrimitives
import SealStatements

/// What change tokens name a feed and its reader by: keyed hashes of what both are called in public. A token tells
/// nobody who finds it anything, is good for nobody but its reader, and stays good wherever the rows go.
package struct FeedNames: Sendable {
    package static let byteCount = 16

    private let key: SecretBytes

    package init(key: SecretBytes) { self.key = key }

    /// One of a caller's databases.
    package func database(_ path: DatabasePath, of caller: Caller) -> [UInt8] {
        name(.databaseFeed, caller, Array(path.container.utf8), [path.environment.rawValue, path.isShared ? 1 : 0])
    }

    /// A zone as the caller reads it.
    package func zone(_ zone: ZoneRow, of caller: Caller) -> [UInt8] {
        name(
            .zoneFeed, caller, Array(zone.container.utf8), [zone.environment.rawValue],
            Array(zone.ownerName.recordName.utf8),
            Array(zone.name.utf8))
    }

    private func name(_ label: ServerHash.Label, _ caller: Caller, _ pieces: [UInt8]...) -> [UInt8] {
        Array(ServerHash.keyed(key, label, [Array(caller.userID.recordName.utf8)] + pieces).prefix(Self.byteCount))
    }
}
