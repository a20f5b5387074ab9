import SealStatements
import Foundation
import SealService
import SealStorage
import SealSystem

extension ServerConfiguration {
    /// Checks what can be checked before anything is opened.
    public func validate() throws(ConfigurationError) {
        guard !dataFolder.isEmpty else { throw .missing(setting: "data") }
        guard secretsFolder != dataFolder, !secretsFolder.hasPrefix(dataFolder + "/") else {
            throw .secretsInsideData(path: secretsFolder)
        }
        if tls == nil, !isBehindProxy, !listen.isLoopback {
            throw .unprotectedListener(address: listen.description)
        }
        if let publicOrigin {
            try Self.validate(origin: publicOrigin, tls: tls != nil)
        } else if tls != nil || isBehindProxy || !listen.isLoopback {
            // A certificate, a proxy and a network each have another name for it.
            throw .missingOrigin(listen: listen.description)
        }
        guard metrics == nil || metrics != listen || listen.port == 0 else {
            throw .invalid(setting: "metrics", expected: "another address than that of --listen")
        }
        if let address = `operator` {
            guard ![listen, metrics].contains(address) || address.port == 0 else {
                throw .invalid(setting: "operator", expected: "another address than those of --listen and --metrics")
            }
            guard tls != nil || address.isLoopback else {
                throw .unprotectedOperator(address: address.description)
            }
        }
        if let address = console {
            guard ![listen, metrics, `operator`].contains(address) || address.port == 0 else {
                throw .invalid(setting: "console", expected: "another address than those of the other listeners")
            }
            guard tls != nil || address.isLoopback else { throw .unprotectedConsole(address: address.description) }
        }
        if let database { try Self.validate(database) }
        if let blobs { try validate(blobs) }
        if let mail { try Self.validate(mail) }
        if let sms { try Self.validate(sms) }
        guard fallbackURLs.allSatisfy({ Self.isFallback(container: $0.key, url: $0.value) }) else {
            throw .invalid(setting: "fallback-url", expected: Self.fallbackURLForm)
        }
        guard webhookOrigins.allSatisfy(WebhookTargets.isAllowable) else {
            throw .invalid(
                setting: "webhook-allow",
                expected: "origins like https://hooks.example.org, without a path, between commas")
        }
        guard webOrigins.allSatisfy(Self.isWebOrigin) else {
            throw .invalid(setting: "web-origin", expected: Self.webOriginForm)
        }
        if let webAt {
            guard Self.isWebOrigin(webAt) else {
                throw .invalid(setting: "web-at", expected: "one of the \(Self.webOriginForm)")
            }
            // A browser that is sent from here to here would go round for ever.
            guard webAt != ServerOrigin.normalized(origin(port: listen.port)) else {
                throw .invalid(setting: "web-at", expected: "another origin than the server's own")
            }
        }
    }

    private static let webOriginForm =
        "origins like https://app.example.org as browsers write them: https:// (http:// on this machine), the host in "
        + "lower case, its port unless it is the usual one, and nothing more"

    /// An origin in the one spelling that browsers send.
    private static func isWebOrigin(_ text: String) -> Bool {
        WebhookTargets.isAllowable(text) && ServerOrigin.normalized(text) == text
            && !text.contains(where: "*%".contains)
    }

    static let fallbackURLForm =
        "a container and a URL, like org.example.notes=https://notes.example.org/get, each container once"

    /// It goes into a page's link as it is.
    private static func isFallback(container: String, url: String) -> Bool {
        guard Names.isContainer(container), url.utf8.count <= 2_048,
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E }),
            let parts = URLComponents(string: url), parts.scheme == "https", parts.host?.isEmpty == false,
            parts.user == nil
        else { return false }
        return true
    }

    /// That the files which settings name are there, and may be read.
    func checkFiles() throws(ConfigurationError) {
        let files = [
            ("tls-certificate", tls?.certificate), ("tls-key", tls?.key), ("smtp-ca-file", mail?.authorityFile),
            ("blobs", try blobs?.place().authorityFile),
        ]
        for case (let setting, let path?) in files { try ConfigurationError.requireFile(setting, path) }
        _ = try blobs?.signer()
    }

    private static func validate(origin: String, tls: Bool) throws(ConfigurationError) {
        // No path, query, fragment or user: `https://notes.example.org`, perhaps with a port. Nor an escape in the
        // host, which would be a second spelling of a name.
        guard let parts = URLComponents(string: origin), parts.scheme == "https" || parts.scheme == "http",
            let host = parts.encodedHost, !host.isEmpty, !host.contains("%"), parts.path.isEmpty, parts.query == nil,
            parts.fragment == nil,
            parts.user == nil
        else { throw .invalid(setting: "origin", expected: "an origin like https://notes.example.org, without a path") }
        guard parts.scheme == "https" || (!tls && Loopback.contains(urlHost: host)) else {
            throw .invalid(
                setting: "origin",
                expected: "an https:// origin: clients speak plain http to a server on their own machine only")
        }
    }

    static func validate(_ database: DatabaseConfiguration) throws(ConfigurationError) {
        let address = try database.address()
        guard !address.verifiesHost, let host = address.hosts.first(where: { !Loopback.contains($0) }) else { return }
        throw .unprotectedDatabase(host: host)
    }

    private func validate(_ blobs: BlobsConfiguration) throws(ConfigurationError) {
        let place = try blobs.place()
        guard place.isEncrypted || Loopback.contains(urlHost: place.endpointHost) else {
            throw .unprotectedBlobs(host: place.endpointHost)
        }
        guard maximumAssetSize <= S3BlobStore.mostBytes else {
            throw .invalid(
                setting: "max-asset-size", expected: "at most \(S3BlobStore.mostBytes) bytes with an S3 store")
        }
    }

    private static func validate(_ mail: MailConfiguration) throws(ConfigurationError) {
        guard let parts = URLComponents(string: mail.url), parts.scheme == "smtp" || parts.scheme == "smtps",
            let host = parts.host, !host.isEmpty, parts.user == nil
        else { throw .invalid(setting: "smtp-url", expected: "smtp://host:port or smtps://host:port, without a user") }
        guard Mailbox(mail.from) != nil else {
            throw .invalid(setting: "smtp-from", expected: "an address, or a name with an address in <>")
        }
        guard parts.scheme == "smtp", !Loopback.contains(urlHost: host) else { return }
        let isProtected =
            switch mail.startTLS {
            case .required: true
            // Whoever is between takes the offer out of the relay's answer.
            case .opportunistic: mail.password == nil
            case .off: false
            }
        guard isProtected else { throw .unprotectedRelay(host: host) }
    }

    private static func validate(_ sms: SMSConfiguration) throws(ConfigurationError) {
        guard WebhookTargets.origin(of: sms.url) != nil else {
            throw .invalid(
                setting: "sms-webhook", expected: "https://host/path (http:// on this machine only), without a user")
        }
        guard sms.token?.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) != false else {
            throw .invalid(setting: "sms-token", expected: "printable ASCII characters without spaces")
        }
    }
}
