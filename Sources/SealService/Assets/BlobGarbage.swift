package import SealStorage

/// Files of blobs that nobody needs any more: noted with what made them so, and deleted afterwards.
package struct BlobGarbage: Sendable {
    package let blobs: any BlobStore

    package init(blobs: any BlobStore) {
        self.blobs = blobs
    }

    private static let batch = 100

    package static func isThere(in connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM blob_garbage LIMIT 1")
    }

    /// First the file, then its row: a crash between the two deletes a file that is gone already.
    ///
    /// Throws the first reason why a file could not be deleted, once the others are.
    package func collect(_ turn: JobTurn) async throws {
        var (last, failure) = ("", (any Error)?.none)
        while true {
            // What a backup's database names stays until the backup has it: the job looks again.
            guard let hold = try await blobs.holdForDeleting() else { break }
            defer { hold.release() }
            let stored = try await turn.read { [last] connection in
                try connection.rows(
                    "SELECT stored FROM blob_garbage WHERE stored > $1 ORDER BY stored LIMIT $2",
                    [.text(last), .integer(Int64(Self.batch))]
                ) { try $0.text("stored") }
            }
            guard let end = stored.last else { break }
            last = end
            try await turn.keep()
            var gone: [String] = []
            for name in stored {
                do {
                    if let id = BlobID(name) {
                        try await blobs.delete(id)
                        // It may never have been finished.
                        try await blobs.discardUpload(id)
                    }
                    gone.append(name)
                } catch {
                    failure = failure ?? error
                }
            }
            try await turn.note { [gone] connection in
                for name in gone {
                    try connection.execute("DELETE FROM blob_garbage WHERE stored = $1", [.text(name)])
                }
            }
        }
        if let failure { throw failure }
    }
}
