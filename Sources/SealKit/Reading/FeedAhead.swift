import Synchronization

/// What a reading to the end of feeds asks next, asked while it verifies and opens what came before, so that server and
/// device work at the same time.
///
/// One answer waits at most, as it came. It is verified when it is read, and dropped where something else is read, or
/// the reading ends.
package final class FeedAhead: Sendable {
    /// An answer on its way.
    struct Coming: Sendable {
        private let task: Task<Result<FeedAnswer, SealKitError>, Never>

        fileprivate init(_ ask: @escaping @Sendable () async throws(SealKitError) -> FeedAnswer) {
            task = Task {
                do throws(SealKitError) { return .success(try await ask()) } catch { return .failure(error) }
            }
        }

        func cancel() { task.cancel() }

        /// - Throws: `operationCancelled` for a reader that was; what asking threw.
        func value() async throws(SealKitError) -> FeedAnswer {
            if Task.isCancelled {
                cancel()
                throw .cancelled
            }
            return try await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                cancel()
            }.get()
        }
    }

    private struct Asked {
        let question: FeedQuestion
        /// Of the account that asked.
        let core: ContainerCore
        let scope: Database.Scope
        let answer: Coming
    }

    private let asked = Mutex<Asked?>(nil)

    package init() {}

    deinit { asked.withLock { $0?.answer.cancel() } }

    /// The answer to this very question; nil where something else was asked, which nobody wants any more.
    func take(_ question: FeedQuestion, of database: Database) -> Coming? {
        let last = asked.withLock { asked in
            defer { asked = nil }
            return asked
        }
        guard let last else { return nil }
        guard last.core === database.core, last.scope == database.scope, last.question == question else {
            last.answer.cancel()
            return nil
        }
        return last.answer
    }

    func ask(_ question: FeedQuestion, of database: Database, by route: FeedRoute) {
        var database = database
        // What is on its way does not keep this, with which it ends.
        database.ahead = nil
        let asking = database
        let now = Asked(
            question: question, core: database.core, scope: database.scope,
            answer: Coming { () async throws(SealKitError) in try await asking.ask(question, by: route) })
        asked.withLock { asked in
            asked?.answer.cancel()
            asked = now
        }
    }
}

extension Database {
    /// A copy for reading feeds to their end: each part is asked for while the one before is verified and opened.
    /// - Parameter ahead: of the same reading, where it goes by several copies.
    package func readingAhead(_ ahead: FeedAhead = FeedAhead()) -> Database {
        var copy = self
        copy.ahead = ahead
        return copy
    }
}
