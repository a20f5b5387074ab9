/// A message to a person outside the system: a verification code.
package struct OutgoingMessage: Sendable {
    /// The same in every attempt, so that whoever passes it on can tell a second copy from a second message.
    package var id: String
    /// A mail address or an E.164 number. Never logged, never part of an error.
    package var recipient: String
    /// Of a mail; empty for a phone.
    package var subject: String
    package var body: String
    /// The same as `body` for mail readers that show HTML; empty for a phone.
    package var html: String
    /// BCP 47, of what is written.
    package var language: String
}

extension OutgoingMessage: CustomStringConvertible, CustomReflectable {
    /// Address and code show nowhere.
    package var description: String { "OutgoingMessage" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Delivers messages of one kind: SMTP for mail, an HTTP webhook for phones.
package protocol Messenger: Sendable {
    func send(_ message: OutgoingMessage) async throws
    /// The same for whoever wants to know what came of it.
    func trial(_ message: OutgoingMessage) async -> SendingTrial
    /// Whether there is a way to find out, without a message, if one would be taken.
    var canBeTried: Bool { get }
    /// Goes as far as a message would be handed over, and hands none over.
    func tryOut() async throws(MessengerError)
    /// What it hands messages to, for the log; nil where that may be a secret.
    var relay: String? { get }
    /// Nothing is sent after this.
    func close() async
}

extension Messenger {
    package func trial(_ message: OutgoingMessage) async -> SendingTrial {
        do {
            try await send(message)
            return SendingTrial(answer: "", failure: nil)
        } catch {
            return SendingTrial(answer: "", failure: error as? MessengerError ?? .unavailable)
        }
    }

    package func close() async {}
    package var canBeTried: Bool { false }
    package var relay: String? { nil }
    package func tryOut() async throws(MessengerError) {}
}

/// What came of a message that was sent to see whether messages go out.
package struct SendingTrial: Sendable, Equatable {
    /// The other side's last line, for the operator alone: it may repeat the recipient. Empty where it said nothing.
    package let answer: String
    /// Nil where it was taken.
    package let failure: MessengerError?

    package init(answer: String, failure: MessengerError?) { (self.answer, self.failure) = (answer, failure) }
}

package enum MessengerError: Error, Equatable {
    /// The recipient is not an address that this messenger can send to.
    case invalidRecipient
    /// The subject or sender holds a character that no header may hold.
    case invalidHeader(String)
    /// The relay cannot be reached, or refused. `code` is libcurl's; `status` the relay's last answer, 0 when there was
    /// none.
    case notSent(code: Int, status: Int, reason: String)
    /// The relay speaks TLS at another moment than its URL says.
    case otherTLS(RelayTLS)
    /// The relay takes no mail without a login, and `status` is what it said.
    case loginWanted(status: Int)
    /// The relay refused when it was told the sender, with this status: the sender, or whoever connects.
    case senderRefused(status: Int)
    /// The gateway answered with this HTTP status; 0 when it did not answer.
    case gateway(status: Int)
    case unavailable

    /// False where the other side has decided: the same message would be refused again.
    var isWorthRetrying: Bool {
        switch self {
        case .invalidRecipient, .invalidHeader: false
        // 4xx is “not now” in SMTP, 5xx is “never”.
        case .notSent(_, let status, _): !(500..<600).contains(status)
        // And the other way round in HTTP, but for those that say “later”.
        case .gateway(let status): !(300..<500).contains(status) || [408, 425, 429].contains(status)
        // As with a wrong password: what is wrong is the server's to mend, and the code may still be good then.
        case .otherTLS, .loginWanted, .senderRefused, .unavailable: true
        }
    }

    /// Whether it says something of the way to the other side, and nothing of the message.
    var isOfTheWay: Bool {
        switch self {
        // A relay that fell silent after a good answer has refused nothing.
        case .notSent(_, let status, _): status < 400
        case .gateway(0), .otherTLS, .loginWanted, .senderRefused, .unavailable: true
        case .invalidRecipient, .invalidHeader, .gateway: false
        }
    }

    /// What an operator can do about it, where that is known.
    package var remedy: String? {
        switch self {
        case .otherTLS(.fromTheStart):
            "the relay seems to speak TLS from the first byte on, as is usual on port 465: write smtps:// in place of "
                + "smtp:// in smtp.url (--smtp-url)"
        case .otherTLS(.afterAWord):
            "the relay seems to speak TLS after STARTTLS, if at all, as is usual on port 587: write smtp:// in place "
                + "of smtps:// in smtp.url (--smtp-url), and leave --smtp-starttls at required"
        case .loginWanted:
            "write the user at the relay into smtp.username and the password into smtp.password (--smtp-username, "
                + "--smtp-password-file); where they are there, the relay offers no login on this port: use the one for "
                + "submission, 587 or 465. Where --smtp-starttls is off it may be TLS that it wants first"
        case .senderRefused:
            "write an address that this server may send from into smtp.from (--smtp-from), usually one of the user at "
                + "the relay, or ask the relay's operator to take mail from this machine"
        case .notSent(28, let status, _) where status > 0:
            "the relay was there, and answered no more after that: ask its operator, or try another port"
        case .notSent(let code, _, _): Self.remedies[code]
        case .invalidRecipient, .invalidHeader, .gateway, .unavailable: nil
        }
    }

    /// By libcurl's numbers, which never change.
    private static let remedies: [Int: String] = [
        6: "the host in smtp.url (--smtp-url) has no address: check its name, and this machine's name server",
        7: "nothing answers there: check host and port of smtp.url (--smtp-url), and that no firewall is between",
        28:
            "the relay did not answer in time: check the port of smtp.url (--smtp-url), and that no firewall is between",
        60: "the relay's certificate is of an authority that this machine does not know, or for another name: name the "
            + "authority's PEM file with smtp.ca.file (--smtp-ca-file), or use the name that the certificate has in "
            + "smtp.url (--smtp-url)",
        64: "the relay offers no STARTTLS: use a port that does, or smtps:// where it speaks TLS from the start; "
            + "--smtp-starttls off is for a relay on this machine",
        67: "check --smtp-username and the password (smtp.username and smtp.password in a file)",
        77: "smtp.ca.file (--smtp-ca-file) is not a PEM file of authorities that the server's user may read",
    ]

    /// What the other side said, for an operator. Holds no address.
    package var reason: String {
        switch self {
        case .invalidRecipient: "the recipient is no address that it can send to"
        case .invalidHeader(let name): "the header \(name) holds a character that none may hold"
        case .notSent(let code, let status, _) where status >= 400 && remedy == nil:
            "the relay refused it, and answered \(status) (libcurl \(code))"
        case .notSent(let code, let status, let reason):
            "\(reason) (libcurl \(code)\(status > 0 ? ", last answer of the relay \(status)" : ""))"
        case .otherTLS: "the relay does not speak TLS when smtp.url says"
        case .loginWanted(let status): "the relay wants a login, and answered \(status)"
        case .senderRefused(let status): "the relay takes no mail from the sender, and answered \(status)"
        case .gateway(let status):
            status > 0 ? "the gateway answered with status \(status)" : "the gateway did not answer"
        case .unavailable: "libcurl cannot be used"
        }
    }

    /// The same with what can be done about it, in one line.
    package var text: String {
        if case .otherTLS = self { return remedy ?? reason }
        return remedy.map { "\(reason): \($0)" } ?? reason
    }
}

/// When a mail relay speaks TLS.
package enum RelayTLS: Sendable, Equatable {
    /// `smtps://`.
    case fromTheStart
    /// `smtp://`: after STARTTLS, or never.
    case afterAWord
}
