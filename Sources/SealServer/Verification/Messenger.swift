/// A message to a person outside the system: a verification code.
struct OutgoingMessage: Sendable {
    /// A mail address or an E.164 number. Never logged, never part of an error.
    var recipient: String
    var subject: String
    var body: String
}

extension OutgoingMessage: CustomStringConvertible, CustomReflectable {
    /// Address and code show nowhere.
    var description: String { "OutgoingMessage" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Delivers messages: SMTP today, an SMS gateway beside it.
protocol Messenger: Sendable {
    func send(_ message: OutgoingMessage) async throws
}

enum MessengerError: Error, Equatable {
    /// The recipient is not an address that this messenger can send to.
    case invalidRecipient
    /// The subject or sender holds a character that no header may hold.
    case invalidHeader(String)
    /// The relay cannot be reached, or refused. `code` is libcurl's; `status` the relay's last answer, 0 when there was none.
    case notSent(code: Int, status: Int, reason: String)
    case unavailable
}
