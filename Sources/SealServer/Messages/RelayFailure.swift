import SealService

/// The mail relay cannot be used, and the server was told not to start without it.
public struct RelayFailure: Error, Equatable, CustomStringConvertible {
    public let url: String
    public let reason: String

    public var description: String {
        "The mail relay \(url) cannot be used: \(reason). Check smtp.url, smtp.from, the login and smtp.ca.file "
            + "(--smtp-url, --smtp-from, --smtp-ca-file), or start without it: --smtp-check warn."
    }

    static func tryOut(_ mail: MailConfiguration) async throws {
        let messenger = try MailMessenger(configuration: mail)
        do {
            try await messenger.tryOut()
        } catch {
            throw RelayFailure(url: mail.url, reason: error.text)
        }
    }
}
