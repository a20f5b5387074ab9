package import SealStorage

/// What a login is judged by.
package struct LoginTerms: Sendable {
    /// What its client signs that it logs in to.
    package let origin: ServerOrigin
    package let challenges: LoginChallenges
    package let database: any SQLDatabase
    /// Microseconds since 1970.
    package let clock: @Sendable () -> Int64

    package init(
        origin: ServerOrigin, challenges: LoginChallenges, database: any SQLDatabase,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.origin = origin
        self.challenges = challenges
        self.database = database
        self.clock = clock
    }
}
