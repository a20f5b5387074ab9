/// As long as nobody waits for something that comes at all.
let patience = Duration.seconds(60)

/// - Throws: `Finding` when `body` does not end in good time; what it throws.
func patiently<T: Sendable>(_ what: String, _ body: @escaping @Sendable () async throws -> T) async throws -> T {
    try await withThrowingTaskGroup(of: T.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: patience)
            throw Finding("\(what) did not come in \(patience)")
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
    }
}

/// Looks time and again.
/// - Parameter holds: nil where it cannot be said.
/// - Throws: `Finding` when it does not hold in good time.
func until(
    within time: Duration = patience, _ failure: String, _ holds: () async -> Bool?
) async throws {
    let end = ContinuousClock.now + time
    while await holds() != true {
        try check(ContinuousClock.now < end, failure)
        try await Task.sleep(for: .milliseconds(50))
    }
}
