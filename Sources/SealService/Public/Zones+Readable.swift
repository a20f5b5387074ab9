import SealStatements
package import SealStorage
package import SealWire

extension Zones {
    /// An open zone that the session's user may read, and in the public database what of it.
    /// - Parameter session: nil for somebody without an account, who sees the public database only.
    package static func readable(
        _ id: Sealkit_V1_ZoneID, by session: Session?, _ path: DatabasePath, _ schemas: SchemaStore,
        in connection: any SQLConnection
    ) throws -> (zone: ZoneRow, rights: PublicRights?) {
        if path.database == .public {
            try PublicZone.check(id)
            return (
                try PublicZone.find(path, in: connection), try PublicRights.of(session, path, schemas, in: connection)
            )
        }
        guard let session else { throw ServerError.needsSession }
        let caller = try Caller(session, container: path.container, in: connection)
        return (try visible(id, to: caller, path, in: connection), nil)
    }
}
