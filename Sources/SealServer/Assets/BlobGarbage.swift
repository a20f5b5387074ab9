/// Files of blobs that nobody needs any more: noted with what made them so, and deleted afterwards.
struct BlobGarbage: Sendable {
    let blobs: any BlobStore

    private static let batch = 100

    static func isThere(in connection: any SQLConnection) throws -> Bool { try connection.exists("SELECT 1 FROM blob_garbage LIMIT 1") }

    /// First the file, then its row: a crash between the two deletes a file that is gone already.
    func collect(_ turn: JobTurn) async throws {
        while true {
            let stored = try await turn.read { connection in
                try connection.rows("SELECT stored FROM blob_garbage LIMIT $1", [.integer(Int64(Self.batch))]) {
                    try $0.text(0)
                }
            }
            if stored.isEmpty { return }
            try await turn.keep()
            for name in stored {
                guard let id = BlobID(name) else { continue }
                try await blobs.delete(id)
                // It may never have been finished.
                try await blobs.discardUpload(id)
            }
            try await turn.note { connection in
                for name in stored {
                    try connection.execute("DELETE FROM blob_garbage WHERE stored = $1", [.text(name)])
                }
            }
        }
    }
}
