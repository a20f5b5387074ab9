import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire

/// An asset of one zone, as a request names it.
package struct AssetPlace: Sendable {
    package let path: DatabasePath
    package let zone: Sealkit_V1_ZoneID
    package let id: String

    package init(_ path: DatabasePath, _ zone: Sealkit_V1_ZoneID, id: String) {
        (self.path, self.zone, self.id) = (path, zone, id)
    }

    /// The zone, to somebody who may upload to it.
    /// - Parameter opens: makes a public database's zone where nobody has written yet.
    func writable(
        by session: Session, opens: Bool = false, _ rosters: RosterCache, _ connection: any SQLConnection
    ) throws -> (caller: Caller, zone: ZoneRow) {
        let caller = try Caller(session, container: path.container, in: connection)
        let zone = try Zones.visible(zone, to: caller, path, in: connection)
        // Which record it will be for, and whether the caller may write that one, shows when that is saved.
        if path.database == .public { return (caller, opens ? try PublicZone.open(path, in: connection) : zone) }
        let mayWrite: Bool =
            if case .shares(let shares, _) = zone.sight {
                try shares.contains {
                    try rosters.roster(of: $0, in: connection).permission(of: caller.userID) == .readWrite
                }
            } else {
                try rosters.roster(of: ScopeRow(zone), in: connection).permission(of: caller.userID) == .readWrite
            }
        guard mayWrite else { throw ZoneRosters.mayOnlyRead }
        return (caller, zone)
    }

    /// The asset, to somebody who may read the record that it is of.
    /// - Parameter session: nil for somebody without an account, who sees the public database only.
    /// - Throws: `assetNotAvailable`; what roles forbid.
    package func readable(
        by session: Session?, _ schemas: SchemaStore, in connection: any SQLConnection
    ) throws -> (stored: BlobID, size: Int64) {
        let (zone, rights) = try Zones.readable(zone, by: session, path, schemas, in: connection)
        guard let blob = try Blobs.find(id, in: zone, connection), let size = blob.size else { throw Self.notFound }
        guard let name = blob.record else {
            // Nobody's yet: the uploader's.
            let caller = try session.map { try Caller($0, container: path.container, in: connection) }
            guard blob.uploader == caller?.id else { throw Self.notFound }
            return (blob.stored, size)
        }
        guard zone.visibleShares != nil || rights != nil else { return (blob.stored, size) }
        guard let record = try StoredRecord.find(name, in: zone, connection) else { throw Self.notFound }
        if zone.visibleShares != nil, record.isDeleted { throw Self.notFound }
        if let refusal = try rights?.refusalToRead(Statement(canonicalBytes: record.statement)) { throw refusal }
        return (blob.stored, size)
    }

    private static let notFound = ServerError(
        .assetNotAvailable, "The zone has no such asset.",
        remedy: "Fetch the record again: it may refer to another asset now.")

    /// - Parameter most: in bytes.
    static func tooLarge(most: Int64) -> ServerError {
        ServerError(
            .limitExceeded, "An asset has at most \(most) bytes on this server.",
            remedy: "Ask the server's operator to raise the limit, or store a smaller asset.")
    }
}
