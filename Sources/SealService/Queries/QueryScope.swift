import SealStatements
import SealStorage
import SealWire

/// Over what a query goes, and what the caller may see of it.
struct QueryScope {
    /// Nil for all zones of the database.
    let asked: ZoneRow?
    /// In the order of their numbers.
    let zones: [ZoneRow]
    let rights: PublicRights?
    /// Whose a cursor is: nobody's in the public database, where each page is judged by what its reader may see.
    let user: UserID?

    /// - Parameter session: nil for somebody without an account.
    init(
        _ message: Sealkit_V1_QueryRecordsRequest, _ session: Session?, _ path: DatabasePath, _ schemas: SchemaStore,
        in connection: any SQLConnection
    ) throws {
        guard message.hasZone || path.database == .public else {
            guard let session else { throw ServerError.needsSession }
            let caller = try Caller(session, container: path.container, in: connection)
            (asked, rights, user) = (nil, nil, caller.userID)
            zones = try Zones.all(of: caller, path, in: connection).sorted { $0.number < $1.number }
            return
        }
        let (zone, rights) = try Zones.readable(message.zone, by: session, path, schemas, in: connection)
        (asked, zones, self.rights) = (zone, [zone], rights)
        user =
            path.database == .public
            ? nil : try session.map { try Caller($0, container: path.container, in: connection).userID }
    }
}
