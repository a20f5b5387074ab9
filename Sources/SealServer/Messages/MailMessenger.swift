import CCurl
import CCurlShim
import Dispatch
import Foundation
import SealService
import SealStorage
import Synchronization

/// Sends mail over SMTP with libcurl: `smtp://` with STARTTLS as configured, or `smtps://`.
final class MailMessenger: Messenger {
    let configuration: MailConfiguration
    private let sender: Mailbox
    /// Sending waits for the network; a few threads of its own keep that off Swift's cooperative pool.
    private let queue = DispatchQueue(label: "sealkit.mail", qos: .utility, attributes: .concurrent)
    private let slots = AsyncSlots(count: 4)

    /// libcurl wants one call before anything else; a global's initializer runs once.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(configuration: MailConfiguration) throws {
        guard Self.isReady else { throw MessengerError.unavailable }
        guard let sender = Mailbox(configuration.from) else {
            throw ConfigurationError.invalid(
                setting: "smtp-from", expected: "an address, or a name with an address in <>")
        }
        self.configuration = configuration
        self.sender = sender
    }

    /// The relay's last line.
    private final class Heard: Sendable {
        private let stored = Mutex("")
        var line: String {
            get { stored.withLock { $0 } }
            set { stored.withLock { $0 = newValue } }
        }
    }

    func send(_ message: OutgoingMessage) async throws { try await hand(over: message, heard: nil) }

    func trial(_ message: OutgoingMessage) async -> SendingTrial {
        let heard = Heard()
        do {
            try await hand(over: message, heard: heard)
            return SendingTrial(answer: heard.line, failure: nil)
        } catch {
            return SendingTrial(answer: heard.line, failure: error as? MessengerError ?? .unavailable)
        }
    }

    private func hand(over message: OutgoingMessage, heard: Heard?) async throws {
        guard let recipient = Mailbox(message.recipient), recipient.name == nil else {
            throw MessengerError.invalidRecipient
        }
        let mail = try MailMessage(
            from: sender, to: recipient, subject: message.subject, body: message.body, html: message.html,
            language: message.language, date: Date(), identifier: message.id
        ).encoded()
        try await slots.run {
            try await waiting { [self] () throws(MessengerError) in
                try explained { () throws(MessengerError) in
                    try deliver(mail, to: recipient.address, heard)
                }
            }
        }
    }

    var relay: String? { configuration.url }
    var canBeTried: Bool { configuration.check != .off }

    /// Connects, authenticates and names the sender, as for a mail, and leaves.
    func tryOut() async throws(MessengerError) {
        try await waiting { [self] () throws(MessengerError) in
            try explained { () throws(MessengerError) in
                do throws(MessengerError) {
                    try session(configuration, timeout: 15) { curl throws(MessengerError) in
                        try say("MAIL FROM:<\(sender.address)>", curl)
                    }
                } catch {
                    guard case .notSent(Self.refusedCommand, let status, _) = error, status >= 400 else { throw error }
                    throw .senderRefused(status: status)
                }
            }
        }
    }

    /// Runs what waits for the network on a thread of this messenger's.
    private func waiting(_ work: @escaping @Sendable () throws(MessengerError) -> Void) async throws(MessengerError) {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Void, MessengerError>, Never>) in
            queue.async { continuation.resume(returning: Result(catching: work)) }
        }
        try result.get()
    }

    private func deliver(_ mail: [UInt8], to recipient: String, _ heard: Heard?) throws(MessengerError) {
        guard let recipients = curl_slist_append(nil, "<\(recipient)>") else { throw .unavailable }
        defer { curl_slist_free_all(recipients) }
        try session(configuration, timeout: 30) { curl throws(MessengerError) in
            try set(curl, CURLOPT_MAIL_FROM, "<\(sender.address)>")
            try check(sealkit_curl_set_list(curl, CURLOPT_MAIL_RCPT, recipients))
            // curl runs in this call only, so what it reads from can live on this frame.
            guard let heard else {
                return mail.withUnsafeBytes { sealkit_curl_upload(curl, $0.baseAddress, $0.count, nil) }
            }
            var answer = sealkit_curl_answer()
            let code = mail.withUnsafeBytes { sealkit_curl_upload(curl, $0.baseAddress, $0.count, &answer) }
            let line = withUnsafeBytes(of: &answer.line) { $0.prefix(answer.count).split(separator: 0x0D).first ?? [] }
            heard.line = String(decoding: line, as: UTF8.self)
            return code
        }
    }

    /// One command after the greeting, and no mail.
    func say(_ command: String, _ curl: UnsafeMutableRawPointer) throws(MessengerError) -> CURLcode {
        try set(curl, CURLOPT_CUSTOMREQUEST, command)
        try set(curl, CURLOPT_NOBODY, 1)
        let result = curl_easy_perform(curl)
        // libcurl takes 553 for an answer to VRFY.
        guard result == CURLE_OK, Self.lastAnswer(curl) >= 400 else { return result }
        return CURLE_WEIRD_SERVER_REPLY
    }

    /// libcurl's number for what the relay did not take.
    private static let refusedCommand = Int(CURLE_WEIRD_SERVER_REPLY.rawValue)
    /// RFC 4954.
    private static let loginWanted = 530

    private static func lastAnswer(_ curl: UnsafeMutableRawPointer) -> Int {
        var status = 0
        _ = sealkit_curl_get_long(curl, CURLINFO_RESPONSE_CODE, &status)
        return status
    }

    /// One connection to a relay, with TLS and the login that are configured.
    /// - Parameter timeout: seconds.
    func session(
        _ relay: MailConfiguration, timeout: Int, _ use: (UnsafeMutableRawPointer) throws(MessengerError) -> CURLcode
    ) throws(MessengerError) {
        guard let curl = curl_easy_init() else { throw .unavailable }
        defer { curl_easy_cleanup(curl) }
        try set(curl, CURLOPT_URL, relay.url)
        try set(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        let startTLS =
            switch relay.startTLS {
            case .off: CURLUSESSL_NONE
            case .opportunistic: CURLUSESSL_TRY
            case .required: CURLUSESSL_ALL
            }
        try set(curl, CURLOPT_USE_SSL, Int(startTLS.rawValue))
        if let file = relay.authorityFile { try set(curl, CURLOPT_CAINFO, file) }
        if let username = relay.username { try set(curl, CURLOPT_USERNAME, username) }
        if let password = relay.password { try set(curl, CURLOPT_PASSWORD, password) }
        try set(curl, CURLOPT_CONNECTTIMEOUT, 10)
        try set(curl, CURLOPT_TIMEOUT, timeout)
        // No signals: this is not the only thread.
        try set(curl, CURLOPT_NOSIGNAL, 1)

        let result = try use(curl)
        guard result == CURLE_OK else {
            let status = Self.lastAnswer(curl)
            guard status != Self.loginWanted else { throw .loginWanted(status: status) }
            // curl's generic text; its detailed one could repeat the relay's answer, which repeats the address.
            throw .notSent(
                code: Int(result.rawValue), status: status, reason: String(cString: curl_easy_strerror(result)))
        }
    }

    private func set(_ curl: UnsafeMutableRawPointer, _ option: CURLoption, _ value: String) throws(MessengerError) {
        try check(sealkit_curl_set_string(curl, option, value))
    }

    private func set(_ curl: UnsafeMutableRawPointer, _ option: CURLoption, _ value: Int) throws(MessengerError) {
        try check(sealkit_curl_set_long(curl, option, value))
    }

    private func check(_ code: CURLcode) throws(MessengerError) {
        guard code == CURLE_OK else {
            throw .notSent(code: Int(code.rawValue), status: 0, reason: String(cString: curl_easy_strerror(code)))
        }
    }
}
