/// Lets a few through at a time; the others wait without holding a thread.
package actor AsyncSlots {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(count: Int) { free = count }

    /// - Throws: `CancellationError` where the task was cancelled while it waited.
    package nonisolated func run<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        await acquire()
        do {
            try Task.checkCancellation()
            let result = try await body()
            await release()
            return result
        } catch {
            await release()
            throw error
        }
    }

    private func acquire() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func release() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
