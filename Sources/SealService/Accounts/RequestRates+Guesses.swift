extension RequestRates {
    /// Whoever saves a passphrase's bundle learns whether somebody else has its id, as whoever asks for one does: each
    /// counts as a guess at a passphrase.
    /// - Throws: `requestRateLimited`.
    package func countGuesses(_ bundles: [RecoveryBundle], by subjects: [RateLimiter.Subject]) async throws {
        let guesses = bundles.count(where: \.kind.isGuessable)
        guard guesses > 0 else { return }
        for subject in subjects {
            try await countForAll(.recovery, subject, amount: guesses)
        }
    }
}
