import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf

/// Seals the cursors of one query, asked by one user in one place: they open for nothing else, and show nothing.
struct CursorSeal: Sendable {
    private let key: SecretBytes
    /// Of the user, the database, the zone and the query, by what they are called in public.
    private let subject: [UInt8]

    /// - Parameters:
    ///   - zone: nil for all of the database's.
    ///   - user: nil in the public database, where each page is judged by what its reader may see.
    init(_ key: SecretBytes, _ query: Query, zone: ZoneRow?, user: UserID?, _ path: DatabasePath) throws {
        self.key = key
        var writer = CanonicalWriter()
        writer.optionalString(user?.recordName)
        writer.string(path.container)
        writer.number(path.environment.rawValue)
        writer.string(path.database.rawValue)
        writer.optionalString(zone?.ownerName.recordName)
        writer.optionalString(zone?.name)
        writer.number(zone?.incarnation ?? 0)
        subject = ServerHash.digest(.query, writer.bytes, try query.wire.serializedBytes())
    }

    /// Lengths tell of lengths: what is sealed is filled up to a multiple of so many bytes.
    private static let padding = 1_024

    func close(_ cursor: [UInt8]) -> [UInt8] {
        var random = SystemRandom()
        var writer = CanonicalWriter(capacity: Self.padding)
        writer.blob(cursor)
        let filling = (Self.padding - writer.bytes.count % Self.padding) % Self.padding
        return AEAD.seal(
            writer.bytes + [UInt8](repeating: 0, count: filling), under: key, associatedData: subject, random: &random)
    }

    /// - Throws: `authenticationFailed` for whatever was not made here for this.
    func open(_ sealed: [UInt8]) throws(SealError) -> [UInt8] {
        var reader = CanonicalReader(try AEAD.open(sealed, under: key, associatedData: subject))
        return try reader.blob(atMost: sealed.count)
    }
}
