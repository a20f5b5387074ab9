/// Two questions of which neither needs the other's answer, asked at the same time: a way to the server there and back
/// instead of two.
/// - Throws: what the first throws, where both do.
func together<First: Sendable, Second: Sendable>(
    _ first: @escaping @Sendable () async throws(SealKitError) -> First,
    and second: @escaping @Sendable () async throws(SealKitError) -> Second
) async throws(SealKitError) -> (First, Second) {
    async let beside = outcome(of: second)
    let one = await outcome(of: first)
    let other = await beside
    return (try one.get(), try other.get())
}

private func outcome<Value>(
    of work: () async throws(SealKitError) -> Value
) async -> Result<Value, SealKitError> {
    do throws(SealKitError) { return .success(try await work()) } catch { return .failure(error) }
}
