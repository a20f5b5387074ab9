import SealStorage
import Synchronization

/// Counts requests in memory, a minute at a time, until somebody takes what has come together. Nothing here waits for a
/// disk, and no request for anything but a moment's lock.
final class TelemetryRecorder: Sendable {
    /// Of one minute: then what clients choose the words of is told apart no more.
    static let mostKeys = 10_000
    /// Accounts of one minute that are remembered until it is written.
    static let mostAccounts = 100_000
    /// Of all minutes that wait to be written.
    static let mostWaiting = 20_000

    fileprivate struct Minute {
        let start: Int64
        var sums: [TelemetryKey: TelemetrySum] = [:]
        var accounts: [TelemetryPlace: Set<Int64>] = [:]
        var accountCount = 0
    }

    /// What has come together, with accounts as the server numbers them: these never leave the memory.
    struct Batch: Sendable {
        var minutes: [TelemetryMinute]
        let accounts: [(start: Int64, place: TelemetryPlace, accounts: Set<Int64>)]
    }

    fileprivate struct State {
        var current: Minute?
        var ended: [Minute] = []
        /// Minutes that could not be written, hashed already.
        var returned: [TelemetryMinute] = []
        var lost: Int64 = 0
        /// That somebody known has been in.
        var containers: Set<String> = []
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: microseconds since 1970.
    init(clock: @escaping @Sendable () -> Int64) { self.clock = clock }

    /// Requests that were counted, and could not be written before there was no more room for them.
    var lost: Int64 { state.withLock(\.lost) }

    /// One request, or what else has a size and a time.
    /// - Parameters:
    ///   - account: whose it is; nil where that is not counted.
    ///   - isKnown: false for a stranger's, whose container is told where somebody known has been since the start:
    ///     anybody can read a public database of a name that they make up.
    func note(
        _ key: TelemetryKey, bytesIn: Int64, bytesOut: Int64, microseconds: Int64, account: Int64?, isKnown: Bool
    ) {
        add(key, account: account, isKnown: isKnown) {
            $0.add(bytesIn: bytesIn, bytesOut: bytesOut, microseconds: microseconds)
        }
    }

    /// So many of something that has neither.
    func note(_ key: TelemetryKey, count: Int) {
        guard count > 0 else { return }
        add(key, account: nil, isKnown: true) { $0.add(Int64(count)) }
    }

    private func add(
        _ key: TelemetryKey, account: Int64?, isKnown: Bool, _ body: (inout TelemetrySum) -> Void
    ) {
        let now = clock() / 1_000_000
        let start = now - now % TelemetryFile.Step.minute.rawValue
        state.withLock { state in
            if state.current?.start != start {
                state.end()
                state.current = Minute(start: start)
            }
            let key = state.told(key, isKnown: isKnown)
            state.current?.add(key, body)
            if let account, !key.container.isEmpty {
                state.current?.add(account, at: TelemetryPlace(container: key.container, environment: key.environment))
            }
        }
    }

    /// All that has come together, which is somebody else's from now on.
    func take() -> Batch {
        state.withLock { state in
            state.end()
            let (ended, returned) = (state.ended, state.returned)
            (state.ended, state.returned) = ([], [])
            return Batch(
                minutes: returned + ended.map { TelemetryMinute(start: $0.start, sums: $0.sums) },
                accounts: ended.flatMap { minute in
                    minute.accounts.map { (minute.start, $0.key, $0.value) }
                })
        }
    }

    /// What could not be written comes with what is taken next; the oldest goes where there is too much of it.
    func putBack(_ minutes: [TelemetryMinute]) {
        state.withLock { state in
            state.returned = minutes + state.returned
            state.shrink()
        }
    }
}

extension TelemetryKey {
    /// What was told to somebody.
    /// - Parameter way: `stream` or `webhook`.
    static func notification(_ way: String, container: String, environment: String, code: String = "") -> Self {
        TelemetryKey(
            kind: .notification, operation: way, container: container, environment: environment, database: "",
            client: "", group: "", code: code)
    }
}

extension TelemetryRecorder.Minute {
    fileprivate mutating func add(_ key: TelemetryKey, _ body: (inout TelemetrySum) -> Void) {
        let isFull = sums.count >= TelemetryRecorder.mostKeys && sums[key] == nil
        body(&sums[isFull ? key.folded : key, default: TelemetrySum()])
    }

    fileprivate mutating func add(_ account: Int64, at place: TelemetryPlace) {
        guard accountCount < TelemetryRecorder.mostAccounts else { return }
        if accounts[place, default: []].insert(account).inserted { accountCount += 1 }
    }
}

extension TelemetryRecorder.State {
    fileprivate mutating func told(_ key: TelemetryKey, isKnown: Bool) -> TelemetryKey {
        guard !key.container.isEmpty else { return key }
        if isKnown {
            if key.code.isEmpty, containers.count < TelemetryRecorder.mostKeys { containers.insert(key.container) }
            return key
        }
        guard !containers.contains(key.container) else { return key }
        var key = key
        key.container = ""
        return key
    }

    fileprivate mutating func end() {
        guard let current else { return }
        ended.append(current)
        self.current = nil
        shrink()
    }

    /// Bounded, however long nobody takes anything.
    fileprivate mutating func shrink() {
        while returned.count + ended.count > 1,
            returned.reduce(0, { $0 + $1.sums.count }) + ended.reduce(0, { $0 + $1.sums.count })
                > TelemetryRecorder.mostWaiting
        {
            let dropped = returned.isEmpty ? ended.removeFirst().sums : returned.removeFirst().sums
            lost += dropped.values.reduce(0) { $0 + $1.count }
        }
    }
}
