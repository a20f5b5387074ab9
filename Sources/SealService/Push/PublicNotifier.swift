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

    package func run(_ turn: JobTurn) async throws {
        // A subscription that fires once frees room on its account's bill, which the step that ends it has beside it.
        var bills: Set<Int64> = []
        while true {
            let words = try await turn.read { try PublicChangeRow.words(atMost: Self.subscriptionsAtOnce, in: $0) }
            guard !words.isEmpty else { return }
            bills = try await turn.step(at: turn.home, beside: Set(bills.map(Home.bill))) { [bills] in
                try step(words, bills, in: $0)
            }
        }
    }

    /// One transaction's worth, of changes whose words were read.
    /// - Parameter bills: whose it has to itself.
    /// - Returns: whose the next one needs.
    func step(
        _ words: PublicChangeRow.Words, _ bills: Set<Int64>, in connection: any SQLConnection
    ) throws -> Set<Int64> {
        var room = Self.subscriptionsAtOnce
        var all: [PublicTelling.Found] = []
        while room > 0,
            let change = try PublicChangeRow.next(words, after: all.last?.change, in: connection),
            words[change.position] != nil
        {
            let telling = PublicTelling(change: change, schemas: schemas, connection: connection)
            let found = try telling.find(atMost: room, bills: bills)
            all.append(found)
            // What concerns nobody is work, too.
            room -= max(1, found.used)
            // What has ended is not there for the next change.
            guard found.ended.isEmpty, found.missingBills.isEmpty else { break }
        }
        try write(all, in: connection)
        return all.last?.missingBills ?? []
    }

    /// Feeds first, then webhooks, and of each all of them in their order: as saves do, which run beside this.
    private func write(_ all: [PublicTelling.Found], in connection: any SQLConnection) throws {
        try NotificationFeed.hold(all.reduce(into: []) { $0.formUnion($1.owners) }, in: connection)
        for found in all { try found.write(in: connection) }
        let hooked = all.reduce(into: Set<Int64>()) { $0.formUnion($1.hooked) }.sorted()
        guard !hooked.isEmpty else { return }
        try WebhookRow.wake(
            where: "database = 1 AND owner IN (\(Shares.list(hooked)))", [], now: clock(), in: connection)
    }
}
