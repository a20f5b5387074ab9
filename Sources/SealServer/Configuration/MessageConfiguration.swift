import SealService

/// How verification codes leave by mail.
public struct MailConfiguration: Sendable {
    /// `smtp://host:port` or `smtps://host:port`.
    public var url: String
    /// The sender: `codes@example.org`, or `Notes <codes@example.org>`.
    public var from: String
    public var username: String?
    public var password: String?
    /// PEM file of the authorities to trust instead of the system's.
    public var authorityFile: String?
    public var startTLS: StartTLS
    public var check: Check

    public enum StartTLS: String, Sendable, CaseIterable {
        /// Never: for a relay on this machine, and refused for any other.
        case off
        /// When the relay offers it. Together with a password for a relay on this machine only.
        case opportunistic
        /// Fail without it.
        case required
    }

    /// Whether the relay is tried when the server starts: up to the point where a mail would be handed over, and no
    /// further.
    public enum Check: String, Sendable, CaseIterable {
        /// The server does not start without it.
        case required
        /// The log says what is wrong, and the relay is tried again until it works.
        case warn
        case off
    }

    public init(
        url: String, from: String, username: String? = nil, password: String? = nil, authorityFile: String? = nil,
        startTLS: StartTLS = .required, check: Check = .warn
    ) {
        self.url = url
        self.from = from
        self.username = username
        self.password = password
        self.authorityFile = authorityFile
        self.startTLS = startTLS
        self.check = check
    }
}

extension MailConfiguration: CustomStringConvertible, CustomReflectable {
    /// The password shows nowhere.
    public var description: String { "MailConfiguration(url: \(url), from: \(from), startTLS: \(startTLS))" }
    public var customMirror: Mirror { Mirror(self, children: ["url": url, "from": from, "startTLS": startTLS]) }
}

/// How verification codes leave for phones: an HTTP webhook that an SMS gateway, or something in front of one, answers.
public struct SMSConfiguration: Sendable {
    /// `https://…`; `http://` on this machine only.
    public var url: String
    /// Sent as `Authorization: Bearer`, where the gateway wants one. Each request is signed in any case.
    public var token: String?

    public init(url: String, token: String? = nil) {
        self.url = url
        self.token = token
    }
}

extension SMSConfiguration: CustomStringConvertible, CustomReflectable {
    /// Neither the token nor the URL, whose path may be one, shows anywhere.
    public var description: String { "SMSConfiguration(\(WebhookTargets.origin(of: url) ?? "none"))" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
