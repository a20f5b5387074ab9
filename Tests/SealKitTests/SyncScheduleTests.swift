import Foundation
import Synchronization
import Testing

@testable import SealKit

/// When an engine that syncs by itself does so, by a clock that passes only by waiting.
@Suite(.timeLimit(.minutes(60))) struct SyncScheduleTests {
    /// A schedule whose runs end as they are told to; afterwards with success.
    private final class Runs: Sendable {
        let pacing = FakePacing()
        let schedule: SyncSchedule
        private let state = Mutex((outcomes: [SealKitError?](), done: [SyncSchedule.Wanted]()))
        private let runs = AsyncStream<Void>.makeStream()

        init(_ outcomes: [SealKitError?] = []) {
            schedule = SyncSchedule(pacing: pacing.pacing)
            state.withLock { $0.outcomes = outcomes }
            schedule.begin { [weak self] wanted throws(SealKitError) in try self?.run(wanted) }
        }

        private func run(_ wanted: SyncSchedule.Wanted) throws(SealKitError) {
            let outcome = state.withLock { state -> SealKitError? in
                state.done.append(wanted)
                return state.outcomes.isEmpty ? nil : state.outcomes.removeFirst()
            }
            defer { runs.continuation.yield() }
            if let outcome { throw outcome }
        }

        var done: [SyncSchedule.Wanted] { state.withLock { $0.done } }

        /// Returns after as many more.
        func wait(for count: Int) async {
            var iterator = runs.stream.makeAsyncIterator()
            for _ in 0..<count { await iterator.next() }
        }
    }

    private func busy(_ seconds: Double? = nil) -> SealKitError { SealKitError(.zoneBusy, "busy", retryAfter: seconds) }

    @Test func whatIsAddedIsGathered() async {
        let runs = Runs()
        runs.schedule.want(.send, after: SyncSchedule.gathering)
        await runs.wait(for: 1)
        #expect(runs.done == [.send] && runs.pacing.sleeps == [.milliseconds(500)])
    }

    @Test func eachFailureInARowIsWaitedForLonger() async {
        let runs = Runs(Array(repeating: busy(), count: 12))
        runs.schedule.want(.both, after: .zero)
        await runs.wait(for: 13)
        let seconds = [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]
        #expect(runs.pacing.sleeps == seconds.map { .seconds($0) } && runs.done == Array(repeating: .both, count: 13))
        // After a success it begins from the beginning.
        runs.schedule.want(.fetch, after: .zero)
        await runs.wait(for: 1)
        #expect(runs.pacing.sleeps.count == 12 && runs.done.last == .fetch)
    }

    @Test func theServersTimeIsKept() async {
        let runs = Runs([busy(60)])
        runs.schedule.want(.send, after: .zero)
        await runs.wait(for: 2)
        #expect(runs.pacing.sleeps == [.seconds(62)])
    }

    @Test func whatCannotBeMendedByWaitingIsNotRepeated() async {
        let runs = Runs([SealKitError(.integrityFailure, "no"), SealKitError(.notAuthenticated, "nobody"), SealKitError(.partialFailure, "some")])
        for count in 1...3 {
            runs.schedule.want(.fetch, after: .zero)
            await runs.wait(for: 1)
            #expect(runs.done.count == count)
        }
        runs.schedule.want(.send, after: .zero)
        await runs.wait(for: 1)
        #expect(runs.done == [.fetch, .fetch, .fetch, .send] && runs.pacing.sleeps.isEmpty)
    }

    @Test func anEndedScheduleDoesNothingMore() async {
        let runs = Runs()
        runs.schedule.want(.send, after: .zero)
        await runs.wait(for: 1)
        runs.schedule.end()
        runs.schedule.want(.send, after: .zero)
        runs.schedule.hurry(.both)
        #expect(runs.done == [.send])
    }
}
