/// What a batch does beside what it was asked for, and of which nobody is told when it fails. That a server has lost
/// something is told once, by the call that finds it out: one that nobody hears leaves it to the next.
enum Upkeep {
    @TaskLocal private static var isQuiet = false

    static func quietly(_ body: () async throws(SealKitError) -> Void) async throws(SealKitError) {
        do { try await $isQuiet.withValue(true) { try await body() } } catch let error as SealKitError {
            throw error
        } catch {
            throw SealKitError(.internalError, "the upkeep of a zone failed: \(error)")
        }
    }

    /// - Throws: where nobody would be told.
    static func requireTelling() throws(SealKitError) {
        guard isQuiet else { return }
        throw SealKitError(.operationCancelled, "the server has lost something here: the next call tells of it")
    }
}
