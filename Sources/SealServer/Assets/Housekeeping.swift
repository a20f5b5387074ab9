import Logging
import Synchronization

/// Clears away what nobody needs any more, beside the requests: files of blobs that lost their record, staged blobs that no
/// record came for, old operations, old deletions. Every step can be cut short by a crash and is done again at the next start.
struct Housekeeping: Sendable {
    let services: Services

    /// Whether a round is under way, and when the last whole one began.
    final class State: Sendable {
        fileprivate struct Values {
            var isCollecting = false
            var isWanted = false
            var lastSweep: Int64 = 0
            /// When storage was last counted again; nil before the first sweep, which is too early for it.
            var lastRecount: Int64?
        }
        fileprivate let values = Mutex(Values())
    }

    private static let batch = 100
    /// An hour, in microseconds.
    private static let sweepInterval: Int64 = 3_600_000_000

    /// A day, in microseconds.
    private static let recountInterval: Int64 = 86_400_000_000

    /// Sweeps in the background: once at the start, and from then on at most once an hour.
    func sweepIfDue() {
        let now = services.clock()
        let isDue = services.housekeepingState.values.withLock { values in
            guard now - values.lastSweep >= Self.sweepInterval else { return false }
            values.lastSweep = now
            return true
        }
        guard isDue else { return }
        Task.detached(priority: .background) {
            await attempt { try await sweep(now: now) }
        }
    }

    /// Removes what deleted zones have left, and the files of discarded blobs, in the background: after the commit that discarded them.
    func collectGarbage() {
        let starts = services.housekeepingState.values.withLock { values in
            values.isWanted = true
            defer { values.isCollecting = true }
            return !values.isCollecting
        }
        guard starts else { return }
        Task.detached(priority: .background) {
            while services.housekeepingState.values.withLock({ values in
                // Asked again meanwhile: there may be garbage that this round did not see.
                defer { values.isWanted = false }
                if !values.isWanted { values.isCollecting = false }
                return values.isWanted
            }) {
                await attempt {
                    try await emptyZones()
                    try await collect()
                }
            }
        }
    }

    /// Erases closed accounts in the background; one that was cut short is gone on with at the next start.
    func eraseAccounts() {
        Task.detached(priority: .background) {
            await attempt {
                try await erase()
                try await collect()
            }
        }
    }

    /// Step by step, so that others' writes come in between.
    func erase() async throws {
        while try await services.database.write({ try AccountErasure.step(in: $0) }) {}
    }

    /// Step by step, too.
    func emptyZones() async throws {
        while try await services.database.write({ try ZoneRemains.step(in: $0) }) {}
    }

    /// Everything that is due now.
    func sweep(now: Int64) async throws {
        try await erase()
        try await emptyZones()
        while true {
            let idle = try await services.database.read { try NotificationFeed.idleWebhooks(in: $0) }
            if idle.isEmpty { break }
            try await services.database.write { try NotificationFeed.dropWebhooks(idle, in: $0) }
        }
        while try await services.database.write({ try Enrolments.sweep(now: now, in: $0) }) {}
        while try await services.database.write({ try ServerKeys.sweep(now: now, in: $0) }) {}
        while try await services.database.write({ try NotificationFeed.sweep(now: now, in: $0) }) {}
        while try await services.database.write({ try Blobs.sweepStaged(now: now, in: $0) }) {}
        while try await services.database.write({ try RepeatableOperation.sweep(now: now, in: $0) }) {}
        let old = now - Int64(services.configuration.tombstoneAge) * 86_400_000_000
        while try await services.database.write({ try Compaction.strip(before: old, in: $0) }) {}
        // Later than their rows go: a row never outlives its file.
        for id in try await services.blobs.staleUploads(olderThan: .seconds(2 * 86_400)) {
            try await services.blobs.discardUpload(id)
        }
        try await collect()
        try await recountIfDue(now: now)
    }

    /// Sums of what is stored are kept up to date by each save; once a day they are compared with what is there.
    private func recountIfDue(now: Int64) async throws {
        let isDue = services.housekeepingState.values.withLock { values in
            let last = values.lastRecount ?? now
            values.lastRecount = last
            guard now - last >= Self.recountInterval else { return false }
            values.lastRecount = now
            return true
        }
        guard isDue, try await services.database.read({ try StorageUsage.hasDrifted(in: $0) }) else { return }
        services.logger.warning("the sums of what is stored were wrong; they are counted again")
        try await services.database.write { try StorageUsage.recount(in: $0) }
    }

    /// First the file, then its row: a crash between the two deletes a file that is gone already.
    func collect() async throws {
        while true {
            let stored = try await services.database.read { connection in
                try connection.rows("SELECT stored FROM blob_garbage LIMIT $1", [.integer(Int64(Self.batch))]) {
                    try $0.text(0)
                }
            }
            if stored.isEmpty { return }
            for name in stored {
                guard let id = BlobID(name) else { continue }
                try await services.blobs.delete(id)
                // It may never have been finished.
                try await services.blobs.discardUpload(id)
            }
            try await services.database.write { connection in
                for name in stored {
                    try connection.execute("DELETE FROM blob_garbage WHERE stored = $1", [.text(name)])
                }
            }
        }
    }

    private func attempt(_ work: () async throws -> Void) async {
        do {
            try await work()
        } catch StorageError.closed {
            // The server is shutting down; the next start goes on.
        } catch {
            services.logger.warning("housekeeping failed; it is tried again later", metadata: ["error": "\(error)"])
        }
    }
}
