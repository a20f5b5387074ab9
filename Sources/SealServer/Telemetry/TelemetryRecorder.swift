import SealStorage
import Synchronization

/// Counts requests in memory, a minute at a time, until somebody takes what has come together. Nothing here waits for a
/// disk, and no request for anything but a moment's lock.
final class TelemetryRecorder: Sendable {
    /// Of one minute: then what clients choose the words of is told apart no more.
    static let mostKeys = 10_000
    /// Of one minute: then where somebody is active is told apart no more. Each becomes registers of some kilobytes.
    static let mostPlaces = 1_000
    /// Accounts of one minute that are remembered until it is written.
    static let mostAccounts = 100_000
    /// Of all minutes that wait to be written.
    static let mostWaiting = 20_000
    /// Entries of the log that wait to be written.
    static let mostWaitingEntries = 30_000

    fileprivate struct Series {
        let key: TelemetryKey
        var sum = TelemetrySum()
        /// Which of the minute's places it belongs to; nil until somebody was active there by it.
        var place: Int?
    }

    /// Of one minute: words of requests whose series is known.
    static let mostFamiliar = 64

    fileprivate struct Place {
        let name: TelemetryPlace
        var accounts: Set<Int64> = []
    }

    fileprivate struct Minute {
        let start: Int64
        var series: [Series] = []
        /// Where the series of a key is, so that a request costs one look for its words.
        var indexes: [TelemetryKey: Int] = [:]
        var places: [Place] = []
        var placeIndexes: [TelemetryPlace: Int] = [:]
        var accountCount = 0
        var log: [LoggedRequest] = []
        /// Of each kind, by its number.
        var logCounts = [Int](repeating: 0, count: LogEntry.Kind.allCases.count)
    }

    /// What has come together, with accounts as the server numbers them: these never leave the memory.
    struct Batch: Sendable {
        var minutes: [TelemetryMinute]
        let accounts: [(start: Int64, place: TelemetryPlace, accounts: Set<Int64>)]
        let log: [(start: Int64, requests: [LoggedRequest])]
        /// In seconds since 1970: of what was counted before, some was lost since the batch before. 0 for nothing.
        let lostUntil: Int64
    }

    fileprivate struct State {
        /// Of no time at first.
        var current = Minute(start: .min)
        var ended: [Minute] = []
        /// Minutes that could not be written, hashed already.
        var returned: [TelemetryMinute] = []
        var lost: Int64 = 0
        /// Where the last lost minute ends, in seconds since 1970, until somebody is told with what is taken.
        var lostUntil: Int64 = 0
        var unlogged: Int64 = 0
        /// Of the last entry in the log: no other one gets it.
        var loggedAt: Int64 = 0
        /// That somebody known has been in.
        var containers: Set<String> = []
        /// What somebody known has said of their client.
        var clients: Set<String> = []
        /// Where the series of the current minute are.
        var familiar: [RequestWords: Int] = [:]
    }

    private let state = Mutex(State())
    /// Whether single requests are logged.
    let hasLog: Bool
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: microseconds since 1970.
    init(hasLog: Bool, clock: @escaping @Sendable () -> Int64) { (self.hasLog, self.clock) = (hasLog, clock) }

    /// Requests that were counted, and could not be written before there was no more room for them.
    var lost: Int64 { state.withLock(\.lost) }

    /// Requests that are in no log: more of a minute than it takes, or lost before they could be written.
    var unlogged: Int64 { state.withLock(\.unlogged) }

    /// One request. A stranger's container and client are told where somebody known has had the same
    /// since the start: anybody can read a public database of a name that they make up, and say what they like.
    /// - Parameter words: of one that was answered.
    func note(_ request: LoggedRequest, words: RequestWords? = nil) {
        let time = clock()
        state.withLock { state in
            state.begin(time)
            let index = state.index(of: request.key, isKnown: request.isKnown)
            state.current.add(request, to: index)
            if hasLog { state.log(request, at: time) }
            if let words, request.kind == .answered, !isLogging(.answered, state) {
                state.learn(words, of: request.key, index)
            }
        }
    }

    /// One more request of somebody known that was answered, by words that were noted this minute.
    /// - Returns: false where it has to be noted with all that is known of it: its words are new, or the log takes it.
    func noteAgain(
        _ words: RequestWords, bytesIn: Int64, bytesOut: Int64, microseconds: Int64, account: Int64, isPerson: Bool
    ) -> Bool {
        let time = clock()
        return state.withLock { state in
            guard state.current.holds(time), !isLogging(.answered, state), let index = state.familiar[words] else {
                return false
            }
            state.current.series[index].sum.add(bytesIn: bytesIn, bytesOut: bytesOut, microseconds: microseconds)
            if isPerson, let place = state.current.series[index].place { state.current.add(account, to: place) }
            if hasLog { state.unlogged += 1 }
            return true
        }
    }

    /// Whether the next request of a kind is logged, with all that is known of it.
    private func isLogging(_ kind: LogEntry.Kind, _ state: borrowing State) -> Bool {
        hasLog && state.current.takes(kind)
    }

    /// So many of something that has neither size nor time.
    /// - Parameter isKnown: false for what is a stranger's.
    func note(_ key: TelemetryKey, count: Int, isKnown: Bool = true) {
        guard count > 0 else { return }
        let time = clock()
        state.withLock { state in
            state.begin(time)
            let index = state.index(of: key, isKnown: isKnown)
            state.current.series[index].sum.add(Int64(count))
        }
    }

    /// All that has come together, which is somebody else's from now on.
    func take() -> Batch {
        state.withLock { state in
            state.end()
            let (ended, returned, lostUntil) = (state.ended, state.returned, state.lostUntil)
            (state.ended, state.returned, state.lostUntil) = ([], [], 0)
            return Batch(
                minutes: returned + ended.map { TelemetryMinute(start: $0.start, sums: $0.sums) },
                accounts: ended.flatMap { minute in
                    minute.places.map { (minute.start, $0.name, $0.accounts) }
                },
                log: ended.filter { !$0.log.isEmpty }.map { ($0.start, $0.log) }, lostUntil: lostUntil)
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
    /// What is no request: was told to somebody, done with a share, or is open.
    static func event(
        _ kind: Kind, _ word: String, in place: TelemetryPlace, client: String = "", code: String = ""
    ) -> Self {
        TelemetryKey(
            kind: kind, operation: word, container: place.container, environment: place.environment, database: "",
            client: client, group: "", code: code)
    }
}

extension TelemetryRecorder.Minute {
    var sums: [TelemetryKey: TelemetrySum] { Dictionary(uniqueKeysWithValues: series.map { ($0.key, $0.sum) }) }

    fileprivate mutating func index(of key: TelemetryKey) -> Int {
        if let index = indexes[key] { return index }
        guard series.count < TelemetryRecorder.mostKeys || key == key.folded else { return index(of: key.folded) }
        let index = series.count
        series.append(.init(key: key))
        indexes[key] = index
        return index
    }

    fileprivate mutating func add(_ request: LoggedRequest, to index: Int) {
        series[index].sum.add(
            bytesIn: request.bytesIn, bytesOut: request.bytesOut, microseconds: request.microseconds)
        guard let account = request.activeAccount, hasRoom, let place = place(of: request, in: index) else { return }
        add(account, to: place)
    }

    /// For accounts, and for the places that they are active in.
    private var hasRoom: Bool { accountCount < TelemetryRecorder.mostAccounts }

    fileprivate mutating func add(_ account: Int64, to place: Int) {
        guard hasRoom else { return }
        if places[place].accounts.insert(account).inserted { accountCount += 1 }
    }

    /// - Parameter time: microseconds since 1970.
    fileprivate func holds(_ time: Int64) -> Bool { start == Self.start(of: time) }

    fileprivate static func start(of time: Int64) -> Int64 {
        let seconds = time / 1_000_000
        return seconds - seconds % TelemetryFile.Step.minute.rawValue
    }

    /// Whether the log has room for one more of a kind.
    fileprivate func takes(_ kind: LogEntry.Kind) -> Bool { logCounts[Int(kind.rawValue)] < kind.mostPerMinute }

    /// Nil outside of any container.
    private mutating func place(of request: LoggedRequest, in index: Int) -> Int? {
        let (container, isOwn) = (request.key.container, request.key.container == series[index].key.container)
        if isOwn, let place = series[index].place { return place }
        guard !container.isEmpty else { return nil }
        let place = place(named: TelemetryPlace(container: container, environment: request.key.environment))
        if isOwn { series[index].place = place }
        return place
    }

    private mutating func place(named name: TelemetryPlace) -> Int {
        if let place = placeIndexes[name] { return place }
        guard places.count < TelemetryRecorder.mostPlaces || name == name.folded else {
            return place(named: name.folded)
        }
        places.append(.init(name: name))
        placeIndexes[name] = places.count - 1
        return places.count - 1
    }
}

extension TelemetryRecorder.State {
    fileprivate mutating func index(of key: TelemetryKey, isKnown: Bool) -> Int {
        // What is there was told to somebody before; a stranger's own word may not have been.
        if isKnown, let index = current.indexes[key] { return index }
        return current.index(of: told(key, isKnown: isKnown))
    }

    private mutating func told(_ key: TelemetryKey, isKnown: Bool) -> TelemetryKey {
        guard !isKnown else {
            guard key.code.isEmpty else { return key }
            if containers.count < TelemetryRecorder.mostKeys { containers.insert(key.container) }
            if clients.count < TelemetryRecorder.mostKeys { clients.insert(key.client) }
            return key
        }
        var key = key
        if !containers.contains(key.container) { key.container = "" }
        if !key.client.isEmpty, !clients.contains(key.client) { key.client = TelemetryKey.other }
        return key
    }

    /// - Parameter time: microseconds since 1970.
    fileprivate mutating func begin(_ time: Int64) {
        guard !current.holds(time) else { return }
        end()
        current = TelemetryRecorder.Minute(start: TelemetryRecorder.Minute.start(of: time))
    }

    /// Only of a series of its own with a place: where an account is active takes a longer look otherwise.
    fileprivate mutating func learn(_ words: RequestWords, of key: TelemetryKey, _ index: Int) {
        guard familiar[words] == nil, current.series[index].place != nil,
            current.series[index].key.container == key.container
        else { return }
        if familiar.count >= TelemetryRecorder.mostFamiliar { familiar.removeAll() }
        familiar[words.kept] = index
    }

    fileprivate mutating func log(_ request: LoggedRequest, at time: Int64) {
        let kind = request.kind
        guard current.takes(kind) else {
            unlogged += 1
            return
        }
        var request = request
        if !request.isKnown { request.key = told(request.key, isKnown: false) }
        // Two that come at once get times of their own. More than a second ahead is no such case, but a clock that was
        // set right: the log would be of a day to come, and its pseudonyms of all days until then.
        request.time = loggedAt - time < 1_000_000 ? max(time, loggedAt + 1) : time
        loggedAt = request.time
        current.logCounts[Int(kind.rawValue)] += 1
        current.log.append(request)
    }

    fileprivate mutating func end() {
        if !current.series.isEmpty { ended.append(current) }
        current = TelemetryRecorder.Minute(start: .min)
        familiar.removeAll()
        shrink()
    }

    /// Bounded, however long nobody takes anything.
    fileprivate mutating func shrink() {
        while returned.count + ended.count > 1,
            returned.reduce(0, { $0 + $1.sums.count }) + ended.reduce(0, { $0 + $1.series.count })
                > TelemetryRecorder.mostWaiting
        {
            let start: Int64
            let sums: [TelemetryKey: TelemetrySum]
            if returned.isEmpty {
                let minute = ended.removeFirst()
                (start, sums) = (minute.start, minute.sums)
                unlogged += Int64(minute.log.count)
            } else {
                let minute = returned.removeFirst()
                (start, sums) = (minute.start, minute.sums)
                unlogged += Int64(minute.log.count)
            }
            lost += sums.values.reduce(0) { $0 + $1.count }
            lostUntil = max(lostUntil, start + TelemetryFile.Step.minute.rawValue)
        }
        shrinkLog()
    }

    private mutating func shrinkLog() {
        var left = returned.reduce(0) { $0 + $1.log.count } + ended.reduce(0) { $0 + $1.log.count }
        guard left > TelemetryRecorder.mostWaitingEntries else { return }
        func drop(_ count: Int) {
            left -= count
            unlogged += Int64(count)
        }
        for index in returned.indices where left > TelemetryRecorder.mostWaitingEntries {
            drop(returned[index].log.count)
            returned[index].log = []
        }
        for index in ended.indices where left > TelemetryRecorder.mostWaitingEntries {
            drop(ended[index].log.count)
            ended[index].log = []
        }
    }
}
