extension Account {
    /// Who may make an account on a server.
    public enum Registration: String, Sendable {
        /// Anybody.
        case open
        /// Whoever has a code from the server's operator.
        case invite
        /// Nobody.
        case closed
    }

    /// Who may make an account on a server, as it says: ask before asking somebody for a code.
    /// - Returns: nil for what this version does not know.
    /// - Throws: `networkFailure`, `requestRateLimited`; `serverRejectedRequest` for what is no SealKit server's
    ///   answer.
    public static func registration(transport: any Transport) async throws(SealKitError) -> Registration? {
        try await ServerInformation(transport: transport).registration
    }
}
