import Synchronization

/// When an engine that syncs by itself does so: soon after there is something to do, one run at a time, and later after
/// each failure in a row.
final class SyncSchedule: Sendable {
    struct Wanted: OptionSet, Sendable {
        let rawValue: Int
        static let fetch = Wanted(rawValue: 1)
        static let send = Wanted(rawValue: 2)
        static let both: Wanted = [.fetch, .send]
    }

    typealias Sync = @Sendable (Wanted) async throws(SealKitError) -> Void

    /// What is added within this time is sent together.
    static let gathering = Duration.milliseconds(500)
    /// What is told within this time is fetched together, however often the server tells of changes.
    static let hearing = Duration.milliseconds(100)
    private static let firstWait = Duration.seconds(2)
    private static let longestWait = Duration.seconds(900)
    private static let longestPause = Duration.seconds(60)

    private struct Plan {
        var sync: Sync?
        var wanted: Wanted = []
        var due: ContinuousClock.Instant
        /// When the server wants to be asked again.
        var asked: ContinuousClock.Instant
        /// Sends in a row that did nothing.
        var vain = 0
        /// Not before `asked`, and not before the wait after failures is over.
        var earliest: ContinuousClock.Instant
        /// In a row.
        var failures = 0
        var isRunning = false
        var sleeper: Task<Void, Never>?
        var isOver = false
    }

    private let pacing: Pacing
    private let plan: Mutex<Plan>

    init(pacing: Pacing) {
        self.pacing = pacing
        let now = pacing.now()
        plan = Mutex(Plan(due: now, asked: now, earliest: now))
    }

    /// Without it nothing is done.
    func begin(_ sync: @escaping Sync) { plan.withLock { $0.sync = sync } }

    func end() {
        let sleeper = plan.withLock { plan in
            plan.isOver = true
            plan.sync = nil
            return plan.sleeper
        }
        sleeper?.cancel()
    }

    func want(_ what: Wanted, after delay: Duration) { plan(what, after: delay, isNews: false) }

    /// What was waited for has come to pass, so that waiting longer after failures is of no use.
    func hurry(_ what: Wanted) { plan(what, after: .zero, isNews: true) }

    /// For another account, which was asked to wait for nothing: who asks too often is held back beneath.
    func beginAnew(_ what: Wanted) {
        let now = pacing.now()
        plan.withLock { $0.asked = now }
        hurry(what)
    }

    private func plan(_ what: Wanted, after delay: Duration, isNews: Bool) {
        let now = pacing.now()
        let (begins, sleeper) = plan.withLock { plan -> (Bool, Task<Void, Never>?) in
            guard !plan.isOver, plan.sync != nil else { return (false, nil) }
            if isNews {
                plan.failures = 0
                plan.earliest = plan.asked
            }
            let soon = max(now + delay, plan.earliest)
            plan.due = plan.wanted.isEmpty ? soon : min(plan.due, soon)
            plan.wanted.formUnion(what)
            defer { plan.isRunning = true }
            return (!plan.isRunning, plan.sleeper)
        }
        sleeper?.cancel()
        // Detached: what wants it may be the delegate, which is being told something.
        if begins { Task.detached { await self.run() } }
    }

    private enum Next {
        case nothing
        case sleep(until: ContinuousClock.Instant, Duration)
        case sync(Wanted, Sync)
    }

    private func run() async {
        while true {
            let now = pacing.now()
            let next = plan.withLock { plan -> Next in
                guard !plan.isOver, let sync = plan.sync, !plan.wanted.isEmpty else {
                    plan.isRunning = false
                    return .nothing
                }
                guard plan.due <= now else { return .sleep(until: plan.due, plan.due - now) }
                defer { plan.wanted = [] }
                return .sync(plan.wanted, sync)
            }
            switch next {
            case .nothing: return
            case .sleep(let due, let duration): await sleep(until: due, duration)
            case .sync(let wanted, let sync):
                do throws(SealKitError) {
                    try await sync(wanted)
                    settled()
                } catch {
                    failed(wanted, error)
                }
            }
        }
    }

    private func sleep(until due: ContinuousClock.Instant, _ duration: Duration) async {
        let pacing = pacing
        let sleeper = Task { () -> Void in try? await pacing.sleep(duration) }
        // What was wanted since the sleep was decided on has found nobody to wake.
        let isInVain = plan.withLock { plan in
            plan.sleeper = sleeper
            return plan.isOver || plan.due < due
        }
        if isInVain { sleeper.cancel() }
        await sleeper.value
        plan.withLock { $0.sleeper = nil }
    }

    /// During a run: whether all that it sent has failed. What adds the same again and again is given more and more
    /// time, from the second time on; the first time is as a rule a conflict, which has been merged.
    func sent(inVain isInVain: Bool) {
        let now = pacing.now()
        plan.withLock { plan in
            plan.vain = isInVain ? plan.vain + 1 : 0
            guard plan.vain > 1 else { return }
            plan.earliest = max(plan.earliest, now + min(Self.longestPause, Self.longest(after: plan.vain - 2)))
            plan.due = max(plan.due, plan.earliest)
        }
    }

    private func settled() { plan.withLock { $0.failures = 0 } }

    private func failed(_ wanted: Wanted, _ error: SealKitError) {
        guard error.retryAfter != nil || error.passesWithTime else { return settled() }
        let now = pacing.now()
        let chance = pacing.chance()
        let wait = Duration.seconds(error.retryAfter ?? 0)
        plan.withLock { plan in
            // What some of the zones or changes are to wait for is nothing that the others wait for.
            if error.code != .partialFailure { plan.asked = now + wait }
            let pause = Self.longest(after: plan.failures) * chance
            plan.earliest = max(plan.earliest, max(plan.asked, now) + pause)
            let due = max(plan.earliest, now + wait + pause)
            plan.due = plan.wanted.isEmpty ? due : max(plan.earliest, min(plan.due, due))
            plan.failures += 1
            plan.wanted.formUnion(wanted)
        }
    }

    /// How long to wait after as many failures in a row before this one.
    func wait(after failures: Int) -> Duration { Self.longest(after: failures) * pacing.chance() }

    private static func longest(after failures: Int) -> Duration {
        min(longestWait, firstWait * (1 << min(failures, 16)))
    }
}
