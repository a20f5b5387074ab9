import Synchronization

/// A write that waits for its group. All calls come from one writer's thread, in this order.
protocol WriteJob: Sendable {
    var turn: WriteTurn? { get }
    /// When it began to wait, where that is measured.
    var enqueued: Int64 { get }
    /// Runs the body and keeps its result; returns the error if it threw.
    func run(in connection: any SQLConnection) -> (any Error)?
    /// Puts an error in the place of what came of it.
    func fail(_ error: any Error)
    /// Whatever came of it is lost with the transaction that it was in.
    func forget()
    /// Answers the caller: with its own error, else with the commit's, else with its value.
    func answer(commitError: (any Error)?)
}

final class PendingWrite<T: Sendable>: WriteJob {
    let turn: WriteTurn?
    let enqueued: Int64
    private let body: @Sendable (any SQLConnection) throws -> T
    private let continuation: CheckedContinuation<T, any Error>
    private let result = Mutex<Result<T, any Error>?>(nil)

    init(
        body: @escaping @Sendable (any SQLConnection) throws -> T, turn: WriteTurn?, enqueued: Int64,
        continuation: CheckedContinuation<T, any Error>
    ) {
        self.enqueued = enqueued
        self.body = body
        self.turn = turn
        self.continuation = continuation
    }

    func run(in connection: any SQLConnection) -> (any Error)? {
        let outcome = Result { try body(connection) }
        result.withLock { $0 = outcome }
        if case .failure(let error) = outcome { return error }
        return nil
    }

    func fail(_ error: any Error) { result.withLock { $0 = .failure(error) } }
    func forget() { result.withLock { $0 = nil } }

    func answer(commitError: (any Error)?) {
        switch result.withLock({ $0 }) {
        case .failure(let error): continuation.resume(throwing: error)
        case .success(let value):
            if let commitError {
                continuation.resume(throwing: commitError)
            } else {
                continuation.resume(returning: value)
            }
        case nil: continuation.resume(throwing: commitError ?? StorageError.closed)
        }
    }
}
