package import SealStorage

/// Files of blobs that nobody needs any more: noted with what made them so, and deleted afterwards, once a grace time
/// is over. A database that is put back from a moment within it names no file that is gone.
package struct BlobGarbage: Sendable {
    package let blobs: any BlobStore
    /// Microseconds; 0 for none.
    package let grace: Int64

    package init(blobs: any BlobStore, grace: Int64) {
        (self.blobs, self.grace) = (blobs, grace)
    }

    private static let batch = 100
    /// Rows alone, which take no files along.
    private static let notedAtOnce: Int64 = 1_000

    package func isDue(now: Int64, in connection: any SQLConnection) throws -> Bool {
        guard grace > 0 else { return try connection.exists("SELECT 1 FROM blob_garbage LIMIT 1") }
        return try connection.exists("SELECT 1 FROM blob_garbage WHERE since IS NULL LIMIT 1")
            || connection.exists(
                "SELECT 1 FROM blob_garbage WHERE since <= $1 LIMIT 1", [.integer(now - grace)])
    }

    /// Notes when the grace time of what is new begins.
    /// - Returns: whether there may be more.
    private static func begin(now: Int64, in connection: any SQLConnection) throws -> Bool {
        let some = "SELECT stored FROM blob_garbage WHERE since IS NULL ORDER BY stored LIMIT $1"
        return try connection.execute(
            "UPDATE blob_garbage SET since = $2 WHERE stored IN (\(some))", [.integer(notedAtOnce), .integer(now)])
            == Int(notedAtOnce)
    }

    /// The next of those whose grace time is over, behind one.
    private func due(after last: (since: Int64, stored: String), now: Int64, in connection: any SQLConnection)
        throws -> [(since: Int64, stored: String)]
    {
        guard grace > 0 else {
            return try connection.rows(
                "SELECT stored FROM blob_garbage WHERE stored > $1 ORDER BY stored LIMIT $2",
                [.text(last.stored), .integer(Int64(Self.batch))]
            ) { (0, try $0.text("stored")) }
        }
        return try connection.rows(
            """
            SELECT since, stored FROM blob_garbage WHERE since <= $3 AND (since, stored) > ($1, $2)
            ORDER BY since, stored LIMIT $4
            """,
            [.integer(last.since), .text(last.stored), .integer(now - grace), .integer(Int64(Self.batch))]
        ) { (try $0.int64("since"), try $0.text("stored")) }
    }

    /// First the file, then its row: a crash between the two deletes a file that is gone already.
    ///
    /// Throws the first reason why a file could not be deleted, once the others are.
    package func collect(_ turn: JobTurn) async throws {
        if grace > 0 { try await turn.steps(at: turn.home) { try Self.begin(now: turn.now, in: $0) } }
        // A store elsewhere may take long for a single one.
        try await turn.keeping { try await collectDue(turn) }
    }

    private func collectDue(_ turn: JobTurn) async throws {
        var (last, failure) = ((since: Int64.min, stored: ""), (any Error)?.none)
        while true {
            // What a backup's database names stays until the backup has it: the job looks again.
            let hold: BlobHold?
            do { hold = try await blobs.holdForDeleting() } catch { throw failure ?? error }
            guard let hold else { break }
            defer { hold.release() }
            let found = try await turn.read { [last] in try due(after: last, now: turn.now, in: $0) }
            guard let end = found.last else { break }
            last = end
            var (gone, isAway) = ([String](), false)
            for name in found.map(\.stored) {
                // Another server is not to have the job meanwhile, or it begins with the same ones.
                if try await turn.keep(noting: { [gone] in try Self.forget(gone, in: $0) }) { gone = [] }
                do {
                    if let id = BlobID(name) {
                        try await blobs.delete(id)
                        // It may never have been finished.
                        try await blobs.discardUpload(id)
                    }
                    gone.append(name)
                } catch {
                    failure = failure ?? error
                    // Each of the others would wait for it as long.
                    if case BlobStoreError.unavailable = error {
                        isAway = true
                        break
                    }
                }
            }
            try await turn.note(at: turn.home) { [gone] in try Self.forget(gone, in: $0) }
            if isAway { break }
        }
        if let failure { throw failure }
    }

    private static func forget(_ gone: [String], in connection: any SQLConnection) throws {
        try connection.executeEach("DELETE FROM blob_garbage WHERE stored = $1", gone.map { [.text($0)] })
    }
}
