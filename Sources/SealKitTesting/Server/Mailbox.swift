public import SealKit
import SealService

/// What a test server has sent to one mail address or phone number: nothing leaves the process.
public struct Mailbox: Sendable {
    /// The mail address or phone number.
    public let address: String
    private let postbox: Postbox
    private let isSending: @Sendable () -> Bool

    init(_ address: String, _ postbox: Postbox, isSending: @escaping @Sendable () -> Bool) {
        (self.address, self.postbox, self.isSending) = (address, postbox, isSending)
    }

    /// The texts that came, oldest first. A message is sent after the request that asks for it is answered.
    public var messages: [String] { postbox.messages(to: address).map(\.body) }

    /// The code of the newest message, once everything is sent that was asked for.
    /// - Throws: `verificationFailed` where there is none.
    public func code() async throws(SealKitError) -> String {
        var tries = 0
        while isSending(), tries < Self.mostTries {
            tries += 1
            do { try await Task.sleep(for: .milliseconds(1)) } catch { throw .cancelled }
        }
        guard let code = messages.last.flatMap(Self.code) else {
            throw SealKitError(
                .verificationFailed, "no message with a code came",
                remedy: "begin the verification first, of this very spelling of the address")
        }
        return code
    }

    /// A minute at least: on a busy machine a message takes its time.
    private static let mostTries = 60_000

    private static func code(in text: String) -> String? {
        text.matches(of: /\b(\d{4}) ?(\d{4})\b/).last.map { String($0.1 + $0.2) }
    }
}
