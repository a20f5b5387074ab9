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
    /// expired goes at the job's own home, and so does what is held or passed over while somebody else has it in hand;
    /// the rest goes where it is at home, beside the bill that it was on.
    package func run(_ turn: JobTurn) async throws {
        let now = turn.now
        // One server's, before anything is read.
        try await turn.keep()
        while let idle = try await turn.next({ try NotificationFeed.idleWebhooks(in: $0) }) {
            try await turn.step(at: turn.home) { try NotificationFeed.dropWebhooks(idle, in: $0) }
        }
        try await turn.steps(at: turn.home) { try Sessions.sweep(now: now, in: $0) }
        try await turn.steps(at: turn.home) { try LoginChallenges.sweep(now: now, in: $0) }
        try await turn.steps(at: turn.home) { try SharedLimits.sweep(now: now, in: $0) }
        try await turn.steps(at: turn.home) { try Enrolments.sweep(now: now, in: $0) }
        try await turn.steps(at: turn.home) { try ServerKeys.sweep(now: now, in: $0) }
        try await turn.steps(at: turn.home) { try NotificationFeed.sweep(now: now, in: $0) }
        try await sweepStaged(turn)
        try await sweepOperations(turn)
        while let excess = try await turn.next({ try ManagementEvents.excess(now: now, in: $0) }) {
            try await turn.step(at: turn.home) { try ManagementEvents.drop(excess, in: $0) }
        }
        try await strip(turn, before: now - Int64(tombstoneAge) * 86_400_000_000)
        // While somebody copies, what nobody finished stays until the next sweep.
        guard let hold = try await blobs.holdForDeleting() else { return }
        defer { hold.release() }
        // A store elsewhere may take long for each.
        try await turn.keep()
        try await turn.keeping {
            for id in try await blobs.staleUploads(olderThan: Self.uploadAge) {
                try await turn.keep()
                try await blobs.discardUpload(id)
            }
        }
    }

    private func sweepStaged(_ turn: JobTurn) async throws {
        let now = turn.now
        while let stale = try await turn.next({ try Blobs.stale(now: now, in: $0) }) {
            for (zone, ids) in stale {
                try await turn.step(at: .zone(owner: zone.owner, zone: zone.number), beside: [.bill(zone.account)]) {
                    try Blobs.sweepStaged(ids, of: zone, now: now, in: $0)
                }
            }
        }
    }

    private func sweepOperations(_ turn: JobTurn) async throws {
        let now = turn.now
        while let old = try await turn.next({ try RepeatableOperation.old(now: now, in: $0) }) {
            try await turn.step(at: turn.home, beside: Set(old.map { Home.bill($0.account) })) {
                try RepeatableOperation.drop(old, in: $0)
            }
        }
    }

    private func strip(_ turn: JobTurn, before moment: Int64) async throws {
        while let old = try await turn.next({ try Compaction.old(before: moment, in: $0) }) {
            for (zone, deletions) in old {
                try await turn.step(at: .zone(owner: zone[0], zone: zone[1])) {
                    try Compaction.strip(deletions, of: zone, in: $0)
                }
            }
        }
    }
}
