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

    package init(blobs: any ListedBlobs, grace: Int64) { (self.blobs, self.grace) = (blobs, grace) }

    package func run(_ turn: JobTurn) async throws -> Outcome {
        var (outcome, last) = (Outcome(), BlobID?.none)
        while true {
            try await turn.keep()
            // First the store, then the rows: a row is there before its file, and a row of garbage until that is gone.
            let page = try await blobs.blobs(after: last)
            let end = page.isLast ? nil : page.entries.last?.id
            let rows = try await turn.read { [last] in try Self.rows(after: last, to: end, in: $0) }
            outcome.compared += page.entries.count
            for entry in page.entries where !rows.known.contains(entry.id.description) {
                guard Int64(entry.written.timeIntervalSince1970 * 1_000_000) < turn.now - grace else { continue }
                try await turn.keep()
                // A list alone is no reason to delete.
                guard try await !isNamed(entry.id.description, turn) else { continue }
                try await blobs.delete(entry.id)
                outcome.deleted += 1
            }
            let listed = Set(page.entries.map(\.id.description))
            for name in rows.finished where !listed.contains(name) {
                try await turn.keep()
                guard try await isLost(name, turn) else { continue }
                outcome.lost += 1
                if outcome.names.count < Self.mostNamed { outcome.names.append(name) }
            }
            guard let end else { return outcome }
            last = end
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

    /// The names of a stretch: of all files that there may be, and of those that there have to be.
    private static func rows(
        after first: BlobID?, to last: BlobID?, in connection: any SQLConnection
    ) throws -> (known: Set<String>, finished: [String]) {
        // Behind every name, which are digits and the letters up to f.
        let stretch: [SQLValue] = [.text(first?.description ?? ""), .text(last?.description ?? "g")]
        var (known, finished) = (Set<String>(), [String]())
        try connection.stream("SELECT stored, size FROM blob WHERE stored > $1 AND stored <= $2", stretch) { row in
            let name = try row.text("stored")
            known.insert(name)
            if try row.optionalInt64("size") != nil { finished.append(name) }
            return true
        }
        known.formUnion(
            try connection.rows("SELECT stored FROM blob_garbage WHERE stored > $1 AND stored <= $2", stretch) {
                try $0.text("stored")
            })
        return (known, finished)
    }
}
