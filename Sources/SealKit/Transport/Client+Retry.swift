import SealWire

/// Repeating what failed on the way, or what the server was too busy for.
extension Client {
    /// Runs one exchange, again while that is safe, of use, and within the time that the operation's configuration
    /// gives.
    ///
    /// A mutation is repeated with the same bytes and so with the same operation id: the server gives the first answer
    /// again.
    /// - Parameters:
    ///   - route: what a throttle holds back together, in whichever container, database or zone.
    ///   - again: what the body does when it is run a second time.
    ///   - body: one whole exchange.
    /// - Throws: `serverResponseLost` when a change may have been made and its answer cannot be had;
    ///   `operationCancelled`; the last failure.
    func attempt<T>(
        _ route: Route, _ again: Repetition, _ body: () async throws(SealKitError) -> T
    ) async throws(SealKitError) -> T {
        var retry = Retry(client: self, callClass: route.name, again: again, context: OperationContext.current)
        try retry.configuration.check()
        while true {
            try await retry.waitForThrottle()
            let options = try retry.options()
            let failure: SealKitError
            do throws(SealKitError) {
                return try await OperationContext.$current.bound(to: retry.inner) { () async throws(SealKitError) in
                    try await TransportOptions.$current.bound(to: options, body)
                }
            } catch {
                failure = error
            }
            try await retry.wait(after: failure)
        }
    }
}

/// One call's attempts.
private struct Retry {
    let client: Client
    let callClass: String
    let again: Repetition
    let context: OperationContext
    let configuration: OperationConfiguration
    private let start: ContinuousClock.Instant
    private var failures = 0
    /// An answer was lost: what the request asks for may have been done.
    private var mayHaveHappened = false

    /// Full jitter: each wait is drawn between nothing and this, doubled each time.
    private static let firstWait = Duration.milliseconds(100)
    private static let longestWait = Duration.seconds(30)
    /// With somebody waiting, a server that cannot be reached gets this many attempts.
    private static let quickAttempts = 4

    init(client: Client, callClass: String, again: Repetition, context: OperationContext) {
        self.client = client
        self.callClass = callClass
        self.again = again
        self.context = context
        configuration = context.chosen ?? OperationConfiguration()
        start = client.pacing.now()
    }

    var inner: OperationContext {
        var context = context
        context.isPartOfAttempt = true
        return context
    }

    private var end: ContinuousClock.Instant { start + configuration.patience }

    func options() throws(SealKitError) -> TransportOptions {
        if Task.isCancelled { throw cancelled }
        var options = TransportOptions()
        options.requestTimeout = context.chosen.map { .seconds($0.timeoutIntervalForRequest) }
        options.resourceTimeout = max(
            .milliseconds(1), start + .seconds(configuration.timeoutIntervalForResource) - client.pacing.now())
        if let group = context.group {
            options.headers[OperationGroup.headerName] = group.headerValue
            options.headers[OperationGroup.nameHeaderName] = group.nameHeaderValue
        }
        return options
    }

    /// Waits until the server wants this class of calls again.
    /// - Throws: the throttle's error, with the time that is left, when that is longer than the call may take.
    func waitForThrottle() async throws(SealKitError) {
        while let throttle = client.throttles.current(callClass, now: client.pacing.now()) {
            let left = throttle.until - client.pacing.now()
            guard !context.isPartOfAttempt, throttle.until <= end else {
                throw SealKitError(
                    throttle.error.code,
                    "held back on this device, as the server's previous answer asked: \(throttle.error.reason)",
                    remedy: throttle.error.remedy, retryAfter: left.inSeconds)
            }
            // Those who waited together do not all come back in the same moment.
            try await sleep(left + min(left, .seconds(1)) * client.pacing.chance())
        }
    }

    /// Waits before the next attempt.
    /// - Throws: the call's outcome, when there is to be none.
    mutating func wait(after failure: SealKitError) async throws(SealKitError) {
        if failure.code == .operationCancelled || Task.isCancelled { throw cancelled }
        failures += 1
        if failure.code == .serverResponseLost { mayHaveHappened = true }
        var earliest = client.pacing.now()
        if failure.isThrottle, let seconds = failure.retryAfter {
            earliest += .seconds(seconds)
            if failure.code != .zoneBusy { client.throttles.hold(callClass, until: earliest, because: failure) }
        }
        guard isWorthRepeating(failure), !context.isPartOfAttempt else { throw outcome(failure) }
        let most = min(Retry.longestWait, Retry.firstWait * (1 << min(failures - 1, 16)))
        let next = earliest + most * client.pacing.chance()
        guard next <= end else { throw outcome(failure) }
        try await sleep(next - client.pacing.now())
    }

    private func isWorthRepeating(_ failure: SealKitError) -> Bool {
        switch failure.code {
        case .networkFailure, .networkUnavailable:
            configuration.waitsForNetwork || isUnderWay || failures < Retry.quickAttempts
        case .serverResponseLost, .serviceUnavailable: again != .once
        case .requestRateLimited, .zoneBusy: true
        default: false
        }
    }

    /// What was sent already would be lost with the next server's restart.
    private var isUnderWay: Bool {
        callClass == Endpoints.assets.part.route.name || callClass == Endpoints.assets.finish.route.name
    }

    private func sleep(_ duration: Duration) async throws(SealKitError) {
        do { try await client.pacing.sleep(duration) } catch { throw cancelled }
    }

    private var cancelled: SealKitError { again == .read ? .cancelled : .cancelledChange }

    /// What the caller is told: a change whose answer was lost may have been made, whatever the last attempt says.
    private func outcome(_ failure: SealKitError) -> SealKitError {
        switch failure.code {
        case .serverResponseLost where again == .read:
            SealKitError(
                .networkFailure, failure.reason, remedy: "check the network, and that the server runs; then try again",
                retryAfter: 5)
        case .serverResponseLost, .networkFailure, .networkUnavailable, .serviceUnavailable, .requestRateLimited,
            .zoneBusy:
            mayHaveHappened && again != .read && !context.isPartOfAttempt ? .responseLost : failure
        default: failure
        }
    }
}

extension SealKitError {
    /// The server asks for time.
    var isThrottle: Bool { code == .requestRateLimited || code == .serviceUnavailable || code == .zoneBusy }

    package static let cancelled = SealKitError(.operationCancelled, "the operation was cancelled")

    static let cancelledChange = SealKitError(
        .operationCancelled, "the operation was cancelled; the change may or may not have been made",
        remedy: "fetch what it was about to see which; saving again reports serverRecordChanged if it was")

    static let responseLost = SealKitError(
        .serverResponseLost,
        "the server's answer was lost, and asking again brought none; the change may or may not have been made",
        remedy: "fetch what it was about to see which, when the server can be reached again", retryAfter: 5)
}

extension Duration {
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
