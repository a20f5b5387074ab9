package import SealStorage

/// Tells those who subscribed to a public database, after the save that they hear of: in small transactions, so that
/// however many they are, whoever writes does not wait for them. How far it got is in the database, so a restart goes
/// on there.
///
/// Each is told what it may read when it is told: the type's grants, its own roles and whose the record is are asked
/// then.
package struct PublicNotifier: Sendable {
    package let schemas: SchemaStore
    /// Microseconds since 1970.
    package let clock: @Sendable () -> Int64

    package init(schemas: SchemaStore, clock: @escaping @Sendable () -> Int64) {
        self.schemas = schemas
        self.clock = clock
    }

    /// Subscriptions in one transaction, each of which is compared with one change.
    static let subscriptionsAtOnce = 256

    /// One transaction's worth.
    /// - Returns: whether there is more to do.
    package func step(in connection: any SQLConnection) throws -> Bool {
        let now = clock()
        var room = Self.subscriptionsAtOnce
        while room > 0 {
            guard let change = try PublicChangeRow.next(in: connection) else { return false }
            // What concerns nobody is work, too.
            let telling = PublicTelling(change: change, now: now, schemas: schemas, connection: connection)
            room -= max(1, try telling.tell(atMost: room))
        }
        return true
    }
}
