import Foundation
package import SealStorage

/// Holds what a store has against what the rows name. What no row names goes, once it is old: a server was stopped
/// between a file and its row, or the database was put back from a moment before it. What a row names and the store
/// has lost is told.
package struct BlobComparison: Sendable {
    package struct Outcome: Sendable, Equatable {
        /// Blobs of the store.
        package var compared = 0
        package var deleted = 0
        package var lost = 0
        /// The first few of those.
        package var names: [String] = []
    }

    package let blobs: any ListedBlobs
    /// Microseconds for which what no row names stays.
    package let grace: Int64

    private static let mostNamed = 20
    private static let rowsAtOnce: Int64 = 1_000

    package init(blobs: any ListedBlobs, grace: Int64) { (self.blobs, self.grace) = (blobs, grace) }

    package func run(_ turn: JobTurn) async throws -> Outcome { try await turn.keeping { try await compare(turn) } }

    private func compare(_ turn: JobTurn) async throws -> Outcome {
        var (outcome, last) = (Outcome(), BlobID?.none)
        // Where nothing could be deleted nothing is read.
        guard let hold = try await blobs.holdForDeleting() else { return outcome }
        hold.release()
        while true {
            try await turn.keep()
            // First the store, then the rows: a row is there before its file, and a row of garbage until that is gone.
            let page = try await blobs.blobs(after: last)
            let end = page.isLast ? nil : page.entries.last?.id
            outcome.compared += page.entries.count
            let unnamed = try await unnamed(in: page, after: last, to: end, turn, &outcome)
            try await delete(page.entries.filter { unnamed.contains($0.id.description) }, turn, &outcome)
            guard let end else { return outcome }
            last = end
        }
    }

    /// What of a page no row names. What a row names that is not there is counted as lost.
    private func unnamed(
        in page: BlobListing, after first: BlobID?, to last: BlobID?, _ turn: JobTurn, _ outcome: inout Outcome
    ) async throws -> Set<String> {
        let listed = Set(page.entries.map(\.id.description))
        var unnamed = listed
        // Behind every name, which are digits and the letters up to f.
        let end = last?.description ?? "g"
        var start = first?.description ?? ""
        while true {
            // A store that has lost everything has one page, and its stretch all rows.
            let rows = try await turn.read { [start, end] in try Self.rows(after: start, to: end, in: $0) }
            for row in rows {
                unnamed.remove(row.name)
                guard row.isFinished, !listed.contains(row.name) else { continue }
                try await turn.keep()
                guard try await isLost(row.name, turn) else { continue }
                outcome.lost += 1
                if outcome.names.count < Self.mostNamed { outcome.names.append(row.name) }
            }
            guard rows.count == Int(Self.rowsAtOnce), let name = rows.last?.name else { return unnamed }
            start = name
            try await turn.keep()
        }
    }

    private func delete(_ entries: [BlobListing.Entry], _ turn: JobTurn, _ outcome: inout Outcome) async throws {
        let old = entries.filter { Int64($0.written.timeIntervalSince1970 * 1_000_000) < turn.now - grace }
        guard !old.isEmpty else { return }
        // Whoever copies the blobs may want them: those that are left are found at the next comparison.
        guard let hold = try await blobs.holdForDeleting() else { return }
        defer { hold.release() }
        for entry in old {
            try await turn.keep()
            // A list alone is no reason to delete.
            guard try await !isNamed(entry.id.description, turn) else { continue }
            try await blobs.delete(entry.id)
            outcome.deleted += 1
        }
    }

    /// It may have come, or gone with its row, since the list was read.
    private func isLost(_ name: String, _ turn: JobTurn) async throws -> Bool {
        guard let id = BlobID(name) else { return true }
        do { _ = try await blobs.size(of: id) } catch BlobStoreError.notFound {
            return try await turn.read {
                try $0.exists("SELECT 1 FROM blob WHERE stored = $1 AND size IS NOT NULL", [.text(name)])
            }
        }
        return false
    }

    private func isNamed(_ name: String, _ turn: JobTurn) async throws -> Bool {
        try await turn.read {
            try $0.exists(
                "SELECT 1 FROM blob WHERE stored = $1 UNION ALL SELECT 1 FROM blob_garbage WHERE stored = $1",
                [.text(name)])
        }
    }

    /// The next names of a stretch: of all files that there may be, and whether there has to be one.
    private static func rows(
        after first: String, to last: String, in connection: any SQLConnection
    ) throws -> [(name: String, isFinished: Bool)] {
        try connection.rows(
            """
            SELECT stored, size FROM blob WHERE stored > $1 AND stored <= $2
            UNION ALL SELECT stored, NULL FROM blob_garbage WHERE stored > $1 AND stored <= $2
            ORDER BY stored LIMIT $3
            """, [.text(first), .text(last), .integer(rowsAtOnce)]
        ) { (try $0.text("stored"), try $0.optionalInt64("size") != nil) }
    }
}
