package import SealWire
import SealPrimitives
import SwiftProtobuf

/// Sends a mail as codes are sent, for the server's operator, and tells what came of it: at once, once, and whatever
/// the relay said. Nothing in the mail was chosen by whoever asked for it but its recipient.
package struct TestMail: Sendable {
    private let messenger: (any Messenger)?
    private let rates: RequestRates
    private let origin: ServerOrigin
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - messenger: nil where no relay is set up.
    ///   - randomBytes: that many bytes that nobody can guess.
    package init(
        messenger: (any Messenger)?, rates: RequestRates, origin: ServerOrigin,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        (self.messenger, self.rates, self.origin, self.randomBytes) = (messenger, rates, origin, randomBytes)
    }

    /// - Throws: `invalidArguments` for what is no mail address; `serverRejectedRequest` without a relay;
    ///   `requestRateLimited`.
    package func run(_ message: Sealkit_V1_TestMailRequest) async throws -> Sealkit_V1_TestMailResponse {
        let address = try Address(email: message.address)
        guard let messenger else {
            throw ServerError(
                .serverRejectedRequest, "This server is set up without a mail relay.",
                remedy: "Start it with --smtp-url and --smtp-from.")
        }
        // Everybody's together: a token that is in wrong hands is to fill no mailboxes.
        try rates.count(.operatorMail, .client([]))
        let text = "This mail was sent by the operator of \(origin.value), to see whether mail goes out."
        let mail = OutgoingMessage(
            id: Hex.encode(randomBytes(16)), recipient: address.normalized, subject: "A test of \(origin.value)",
            body: text, html: "", language: "en")
        let trial = await messenger.trial(mail)
        return .with {
            $0.taken = trial.failure == nil
            $0.relay = messenger.relay ?? ""
            $0.answer = trial.answer
            if let failure = trial.failure {
                $0.reason = failure.reason
                $0.remedy = failure.remedy ?? ""
            }
        }
    }
}
