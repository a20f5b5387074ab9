import SealWire

/// What a server says of itself to everybody, before anybody has an account there. Nobody vouches for it but the
/// connection.
public struct ServerInformation: Sendable, Equatable {
    /// The server's name for itself: scheme, host and, if need be, port. Logins sign the name that a server is reached
    /// by, so they are good under this one only.
    public var origin: String
    /// Who may make an account; nil for what this version does not know.
    public var registration: Account.Registration?
    /// Whether codes go out by mail: without it, nobody can prove an e-mail address there.
    public var sendsMail: Bool
    /// Whether codes go out as text messages: without it, nobody can prove a phone number there.
    public var sendsTexts: Bool
    /// Whether mail is known to fail at present: codes wait then, and go out once it works, if they are still good.
    public var isMailFailing: Bool
    /// The same of text messages.
    public var areTextsFailing: Bool

    /// Asks a server.
    /// - Throws: `networkFailure`, `requestRateLimited`; `serverRejectedRequest` for what is no SealKit server's
    ///   answer.
    public init(transport: any Transport) async throws(SealKitError) {
        let client = Client(transport: transport)
        let answer = try await client.attempt(Endpoints.server.limits.route, .read) {
            () async throws(SealKitError) -> Sealkit_V1_LimitsResponse in
            try Client.decode(try await client.transport.get(Endpoints.server.limits.route.template, token: nil))
        }
        origin = answer.origin
        registration = Account.Registration(rawValue: answer.registration)
        sendsMail = answer.codes.contains("mail")
        sendsTexts = answer.codes.contains("text")
        isMailFailing = answer.codes.contains("mail-failing")
        areTextsFailing = answer.codes.contains("text-failing")
    }
}

extension Account {
    /// What this account's server says of itself.
    /// - Throws: `networkFailure`, `requestRateLimited`; `serverRejectedRequest` for what is no SealKit server's
    ///   answer.
    public func serverInformation() async throws(SealKitError) -> ServerInformation {
        try await ServerInformation(transport: client.transport)
    }
}

extension Client {
    /// That the server is reached by another name than its own, where that is so: what was signed for one holds for no
    /// other.
    /// - Parameter code: of what failed for it; `invalidArguments` where the address is the call's own.
    func misnaming(as code: SealKitError.Code) async -> SealKitError? {
        guard let name = try? await ServerInformation(transport: transport).origin, name != transport.origin,
            (1...300).contains(name.utf8.count), name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        // Whose account it is has keys that are good under any name: another account would be somebody else.
        let remedy =
            code == .invalidArguments
            ? "reach it as \(name)"
            : "if that is its new name, the account stays what it is: move its address to \(name) with move(in:to:trust:)"
        return SealKitError(
            code,
            "the server that was reached as \(transport.origin) calls itself \(name), and a login holds for that name only",
            remedy: remedy + "; if \(transport.origin) is its name, its operator has to start it with that origin")
    }
}
