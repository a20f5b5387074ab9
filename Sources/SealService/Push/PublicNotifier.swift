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
        while true {
            let words = try await turn.read { try PublicChangeRow.words(atMost: Self.subscriptionsAtOnce, in: $0) }
            guard !words.isEmpty else { return }
            try await turn.step(at: turn.home) { try step(words, in: $0) }
        }
    }

    /// One transaction's worth, of changes whose words were read.
    private func step(_ words: PublicChangeRow.Words, in connection: any SQLConnection) throws {
        let now = clock()
        var room = Self.subscriptionsAtOnce
        while room > 0, let change = try PublicChangeRow.next(words, in: connection), words[change.position] != nil {
            // What concerns nobody is work, too.
            let telling = PublicTelling(change: change, now: now, schemas: schemas, connection: connection)
            room -= max(1, try telling.tell(atMost: room))
        }
    }
}
