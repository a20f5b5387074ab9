package import SealStorage

/// Clears away what has had its time, whether anybody asks for anything or not: what has expired, old operations,
/// notifications, events and deletions, staged blobs that no record came for.
package struct Sweep: Sendable {
    package let blobs: any BlobStore
    /// Days, as the operator has it.
    package let tombstoneAge: Int

    package init(blobs: any BlobStore, tombstoneAge: Int) {
        self.blobs = blobs
        self.tombstoneAge = tombstoneAge
    }

    /// Later than their rows go: a row never outlives its file.
    private static let uploadAge: Duration = .seconds(2 * 86_400)

    /// Everything that is due, in small steps, so that others' writes come in between. What nobody touches once it has
    /// expired goes at the job's own home; what may be used, or counted on, just then has to be nobody else's.
    package func run(_ turn: JobTurn) async throws {
        let now = turn.now
        while true {
            let idle = try await turn.read { try NotificationFeed.idleWebhooks(in: $0) }
            if idle.isEmpty { break }
            try await turn.step(at: .everything) { try NotificationFeed.dropWebhooks(idle, in: $0) }
        }
        try await turn.steps(at: turn.home) { try Sessions.sweep(now: now, in: $0) }
        try await turn.steps(at: .everything) { try LoginChallenges.sweep(now: now, in: $0) }
        try await turn.steps(at: .everything) { try SharedLimits.sweep(now: now, in: $0) }
        try await turn.steps(at: turn.home) { try Enrolments.sweep(now: now, in: $0) }
        try await turn.steps(at: turn.home) { try ServerKeys.sweep(now: now, in: $0) }
        try await turn.steps(at: .everything) { try NotificationFeed.sweep(now: now, in: $0) }
        try await turn.steps(at: .everything) { try Blobs.sweepStaged(now: now, in: $0) }
        try await turn.steps(at: .everything) { try RepeatableOperation.sweep(now: now, in: $0) }
        while true {
            let excess = try await turn.read { try ManagementEvents.excess(now: now, in: $0) }
            if excess.isEmpty { break }
            try await turn.step(at: turn.home) { try ManagementEvents.drop(excess, in: $0) }
        }
        let old = now - Int64(tombstoneAge) * 86_400_000_000
        try await turn.steps(at: .everything) { try Compaction.strip(before: old, in: $0) }
        // While somebody copies, what nobody finished stays until the next sweep.
        guard let hold = try await blobs.holdForDeleting() else { return }
        defer { hold.release() }
        for id in try await blobs.staleUploads(olderThan: Self.uploadAge) {
            try Task.checkCancellation()
            try await blobs.discardUpload(id)
        }
    }
}
