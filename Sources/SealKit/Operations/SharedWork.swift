/// Work that many callers wait for, like one login: it goes on when one of them is cancelled, and by no caller's
/// configuration.
struct SharedWork<Value: Sendable>: Sendable {
    private let task: Task<Value, any Error>

    init(_ body: @escaping @Sendable () async throws -> Value) {
        task = Task {
            try await OperationContext.$current.withValue(OperationContext(isPartOfAttempt: true)) {
                try await TransportOptions.$current.withValue(TransportOptions()) { try await body() }
            }
        }
    }

    /// - Throws: `operationCancelled` as soon as the caller is; `networkFailure` when the caller's time is up; what the
    ///   work throws.
    func value() async throws(SealKitError) -> Value {
        let (results, continuation) = AsyncStream<Result<Value, any Error>>.makeStream()
        Task {
            continuation.yield(await task.result)
            continuation.finish()
        }
        let options = TransportOptions.current
        let alarm = [options.requestTimeout, options.resourceTimeout].compactMap { $0 }.min().map { limit in
            Task {
                try await Task.sleep(for: limit)
                continuation.yield(
                    .failure(
                        SealKitError(
                            .networkFailure, "logging in took too long", remedy: "try again later", retryAfter: 5)))
            }
        }
        defer { alarm?.cancel() }
        for await result in results {
            do { return try result.get() } catch {
                throw error as? SealKitError
                    ?? SealKitError(.internalError, "what was waited for failed without saying why")
            }
        }
        throw SealKitError.cancelled
    }
}
