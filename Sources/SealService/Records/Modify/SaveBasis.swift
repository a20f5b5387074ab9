import SealStatements
import SealStorage
import SealWire

/// What a save is judged by before its transaction, all from one snapshot.
struct SaveBasis: Sendable {
    let caller: Caller
    let judge: SaveJudge
    /// What begins and ends with it.
    let shareChanges: ShareChanges
    let schema: StoredSchema
    /// Of the records that carry fields over, by name.
    let predecessors: [String: StoredRecord]
    /// What the next save here may rest on; nil in the public database.
    let ground: SaveGround?

    /// - Throws: `zoneNotFound`, `userDeletedZone`; `limitExceeded` for predecessors that are too large together; what
    ///   the rules say against shares that begin or end.
    init(
        of request: SaveRequest, by caller: Caller, rosters: RosterCache, schemas: SchemaStore, quotas: Quotas,
        addresses: AddressHasher, in connection: any SQLConnection
    ) throws {
        let (message, path) = (request.message, request.path)
        let zone = try Zones.writable(message.head.zone, by: caller, path, in: connection)
        predecessors = try Self.predecessors(request.carrying, in: zone, connection)
        let changes = try ShareChanges(message.head, zone, caller, path, rosters, quotas, addresses, connection)
        judge = try SaveJudge(message, changes, zone, caller, path, rosters, in: connection)
        schema = try schemas.schema(path.container, path.environment, in: connection)
        ground =
            path.database == .public
            ? nil
            : SaveGround(
                callerID: caller.id, userID: caller.userID, owner: zone.owner, zone: zone.number,
                bill: try StorageUsage.Bill(zone, caller: caller, in: connection).account)
        self.caller = caller
        shareChanges = changes
    }

    /// What is remembered of the last save here; nothing else is asked of the database.
    init(caller: Caller, judge: SaveJudge, schema: StoredSchema) {
        self.caller = caller
        self.judge = judge
        self.schema = schema
        shareChanges = ShareChanges()
        predecessors = [:]
        ground = nil
    }

    private static func predecessors(
        _ names: [String], in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> [String: StoredRecord] {
        var found: [String: StoredRecord] = [:]
        var room = SaveComparison.mostReplacedBytes
        for name in names where found[name] == nil {
            guard let record = try StoredRecord.find(name, in: zone, connection) else { continue }
            room -= record.fields.count
            guard room >= 0 else {
                throw ServerError(
                    .limitExceeded, "The records that fields are carried over from are too large together.",
                    remedy: "Send half of them at once.")
            }
            found[name] = record
        }
        return found
    }
}
