import Foundation
import Synchronization
import Testing

@testable import SealKit

/// When an engine that syncs by itself does so, by a clock that passes only by waiting.
@Suite(.timeLimit(.minutes(60))) struct SyncScheduleTests {
    /// A schedule whose runs end as they are told to; afterwards with success.
    private final class Runs: Sendable {
        let pacing: FakePacing
        let schedule: SyncSchedule
        private let state = Mutex((outcomes: [SealKitError?](), done: [SyncSchedule.Wanted]()))
        private let runs = AsyncStream<Void>.makeStream()

        convenience init(_ outcomes: [SealKitError?] = []) {
            let pacing = FakePacing()
            self.init(outcomes, pacing, SyncSchedule(pacing: pacing.pacing))
        }

        init(_ outcomes: [SealKitError?], _ pacing: FakePacing, _ schedule: SyncSchedule) {
            self.pacing = pacing
            self.schedule = schedule
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

    /// A schedule that hears of something each time that it has just begun to sleep, by the real clock.
    private func onceItSleeps(_ tell: @escaping @Sendable (SyncSchedule) -> Void) -> SyncSchedule {
        let own = LockedValue<SyncSchedule?>(nil)
        let pacing = Pacing(
            now: { .now },
            sleep: { _ in
                if let schedule = own.value { tell(schedule) }
                try await Task.sleep(for: .seconds(3600))
            }, chance: { 1 })
        let schedule = SyncSchedule(pacing: pacing)
        own.change { $0 = schedule }
        return schedule
    }

    private func busy(_ seconds: Double? = nil) -> SealKitError { SealKitError(.zoneBusy, "busy", retryAfter: seconds) }

    @Test func whatIsAddedIsGathered() async {
        let runs = Runs()
        runs.schedule.want(.send, after: SyncSchedule.gathering)
        await runs.wait(for: 1)
        #expect(runs.done == [.send])
        #expect(runs.pacing.sleeps == [.milliseconds(500)])
    }

    @Test func eachFailureInARowIsWaitedForLonger() async {
        let runs = Runs(Array(repeating: busy(), count: 12))
        runs.schedule.want(.both, after: .zero)
        await runs.wait(for: 13)
        let seconds = [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]
        #expect(runs.pacing.sleeps == seconds.map { .seconds($0) })
        #expect(runs.done == Array(repeating: .both, count: 13))
        // After a success it begins from the beginning.
        runs.schedule.want(.fetch, after: .zero)
        await runs.wait(for: 1)
        #expect(runs.pacing.sleeps.count == 12)
        #expect(runs.done.last == .fetch)
    }

    @Test func theServersTimeIsKept() async {
        let runs = Runs([busy(60)])
        runs.schedule.want(.send, after: .zero)
        await runs.wait(for: 2)
        #expect(runs.pacing.sleeps == [.seconds(62)])
    }

    @Test func whatCannotBeMendedByWaitingIsNotRepeated() async {
        let outcomes = [
            SealKitError.Code.integrityFailure, .notAuthenticated, .partialFailure, .operationCancelled,
            .permissionFailure,
        ]
        let runs = Runs(outcomes.map { SealKitError($0, "no") })
        for count in 1...5 {
            runs.schedule.want(.fetch, after: .zero)
            await runs.wait(for: 1)
            #expect(runs.done.count == count)
        }
        runs.schedule.want(.send, after: .zero)
        await runs.wait(for: 1)
        #expect(runs.done == Array(repeating: .fetch, count: 5) + [.send])
        #expect(runs.pacing.sleeps.isEmpty)
    }

    @Test func whatSaysNothingOfTheChangesIsRepeated() async {
        let runs = Runs(
            [SealKitError.Code.serverRejectedRequest, .internalError, .serverNotTrusted].map { SealKitError($0, "no") })
        runs.schedule.want(.send, after: .zero)
        await runs.wait(for: 4)
        #expect(runs.done == Array(repeating: .send, count: 4))
        #expect(runs.pacing.sleeps == [2, 4, 8].map { .seconds($0) })
    }

    /// A zone that cannot be made, and is added again each time.
    @Test func whatIsSentInVainIsGivenMoreAndMoreTime() async {
        let pacing = FakePacing()
        let schedule = SyncSchedule(pacing: pacing.pacing)
        let runs = LockedValue(0)
        let (ends, end) = AsyncStream<Void>.makeStream()
        schedule.begin { [weak schedule] _ throws(SealKitError) in
            runs.change { $0 += 1 }
            guard runs.value <= 10 else { return end.finish() }
            schedule?.want(.send, after: SyncSchedule.gathering)
            schedule?.sent(inVain: runs.value != 9)
            if runs.value != 9 { throw SealKitError(.partialFailure, "all of it") }
        }
        schedule.want(.send, after: .zero)
        for await _ in ends {}
        // The ninth did something.
        let waits: [Duration] =
            [.milliseconds(500)] + [2, 4, 8, 16, 32, 60, 60].map { .seconds($0) } + [
                .milliseconds(500), .milliseconds(500),
            ]
        #expect(pacing.sleeps == waits)
    }

    /// What is wanted much later keeps nothing else waiting, also after a failure.
    @Test func whatIsWantedSoonerComesSooner() async {
        let pacing = FakePacing()
        let schedule = SyncSchedule(pacing: pacing.pacing)
        let done = LockedValue<[SyncSchedule.Wanted]>([])
        let (ends, end) = AsyncStream<Void>.makeStream()
        schedule.begin { [weak schedule] wanted throws(SealKitError) in
            done.change { $0.append(wanted) }
            switch done.value.count {
            case 1: throw SealKitError(.zoneBusy, "busy")
            case 2:
                schedule?.want(.fetch, after: .seconds(900))
                schedule?.want(.send, after: .zero)
            default: end.finish()
            }
        }
        schedule.want(.fetch, after: .zero)
        for await _ in ends {}
        #expect(done.value == [.fetch, .fetch, .both])
        #expect(pacing.sleeps == [.seconds(2)])
    }

    /// One zone's wait is not everybody's.
    @Test func whatSomeAreToWaitForKeepsNothingElse() async {
        let pacing = FakePacing()
        let schedule = SyncSchedule(pacing: pacing.pacing)
        let done = LockedValue<[SyncSchedule.Wanted]>([])
        let (ends, end) = AsyncStream<Void>.makeStream()
        schedule.begin { [weak schedule] wanted throws(SealKitError) in
            done.change { $0.append(wanted) }
            guard done.value.count == 1 else { return end.finish() }
            schedule?.want(.fetch, after: .zero)
            throw SealKitError(.partialFailure, "one of the zones is busy", retryAfter: 3_600)
        }
        schedule.want(.send, after: .zero)
        for await _ in ends {}
        #expect(done.value == [.send, .both])
        #expect(pacing.sleeps == [.seconds(2)])
    }

    /// Where nothing else is wanted, it is what the run waits for.
    @Test func whatSomeAreToWaitForIsWaitedFor() async {
        let runs = Runs([SealKitError(.partialFailure, "one of the zones is busy", retryAfter: 3_600)])
        runs.schedule.want(.send, after: .zero)
        await runs.wait(for: 2)
        #expect(runs.pacing.sleeps == [.seconds(3_602)])
    }

    /// What a server asked of one account is not asked of the next.
    @Test func anotherAccountDoesNotWaitForWhatTheLastOneWasAskedFor() async {
        let schedule = onceItSleeps { $0.beginAnew(.both) }
        let runs = Runs([busy(3_600)], FakePacing(), schedule)
        schedule.want(.fetch, after: .zero)
        await runs.wait(for: 2)
        #expect(runs.done == [.fetch, .both])
        schedule.end()
    }

    /// The app is told of the network's return just when the schedule has decided to sleep.
    @Test func aWakeUpWhileTheSleepBeginsIsNotLost() async {
        for _ in 0..<200 {
            let schedule = onceItSleeps { $0.hurry(.both) }
            let runs = Runs([], FakePacing(), schedule)
            schedule.want(.send, after: .seconds(3600))
            await runs.wait(for: 1)
            #expect(runs.done == [.both])
            schedule.end()
        }
    }

    /// A task that was begun while something was told, and goes on after it, begins others of its kind.
    @Test func aChainOfTasksKeepsNothingOfWhatIsOver() async {
        weak var kept: SyncPlace?
        let (isOver, over) = AsyncStream<Void>.makeStream()
        let (isEnough, enough) = AsyncStream<Void>.makeStream()
        let second = await {
            let place = SyncPlace(owner: nil)
            kept = place
            return await SyncHandling.during(place) {
                Task {
                    for await _ in isOver {}
                    return await SyncHandling.during(SyncPlace(owner: nil)) { Task { for await _ in isEnough {} } }
                }
            }
        }()
        over.finish()
        let third = await second.value
        #expect(kept == nil)
        enough.finish()
        await third.value
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
