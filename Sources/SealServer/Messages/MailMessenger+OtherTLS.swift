import CCurl
import Foundation
import SealService

extension MailMessenger {
    /// Runs a session. Where the relay was reached and said nothing that could be understood, it is asked once more as
    /// if its URL had the other scheme, so that the error can say what to write.
    func explained(_ use: () throws(MessengerError) -> Void) throws(MessengerError) {
        do { try use() } catch {
            guard case .notSent(let code, 0, _) = error, !Self.saysItself.contains(code), let found = otherTLS() else {
                throw error
            }
            throw .otherTLS(found)
        }
    }

    /// What says itself what is wrong: no connection came about, or TLS did and its certificate is not trusted.
    private static let saysItself = Set(
        [CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE]
            .map { Int($0.rawValue) })

    /// What answers on the same port as if the URL had the other scheme. It is told nothing: no login, no sender.
    private func otherTLS() -> RelayTLS? {
        guard var parts = URLComponents(string: configuration.url) else { return nil }
        let isTLS = parts.scheme?.lowercased() == "smtps"
        // Each scheme has a port of its own where the URL has none.
        (parts.scheme, parts.port) = (isTLS ? "smtp" : "smtps", parts.port ?? (isTLS ? 465 : 25))
        guard let url = parts.string else { return nil }
        let other = MailConfiguration(
            url: url, from: configuration.from, authorityFile: configuration.authorityFile, startTLS: .off)
        let isThere: Bool
        do {
            try session(other, timeout: 5) { curl throws(MessengerError) in try say("NOOP", curl) }
            isThere = true
        } catch {
            // An answer that refuses is one; so is, for TLS, a certificate that is not trusted.
            switch error {
            case .loginWanted: isThere = true
            case .notSent(let code, let status, _):
                isThere = status > 0 || (!isTLS && code == Int(CURLE_PEER_FAILED_VERIFICATION.rawValue))
            default: return nil
            }
        }
        guard isThere else { return nil }
        return isTLS ? .afterAWord : .fromTheStart
    }
}
