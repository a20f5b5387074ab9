import Logging
import SealService
import SealStorage

/// What the log says of a server when it starts: what it is, where it keeps what, and what it was told. No secrets.
struct StartReport {
    let metadata: Logger.Metadata

    /// - Parameters:
    ///   - certificateValidUntil: of the server's own certificate; nil without TLS.
    ///   - webBundle: nil where the program was built without the web client.
    init(_ configuration: ServerConfiguration, certificateValidUntil: String?, webBundle: WebBundle?) {
        func limit(_ value: some BinaryInteger) -> Logger.MetadataValue { value > 0 ? "\(value)" : "none" }
        let limits = configuration.limits
        var metadata: Logger.Metadata = [
            "version": "\(ServerVersion.current)",
            "web": "\(WebBundle.description(of: webBundle?.hash))",
            "data": "\(configuration.dataFolder)",
            "secrets": "\(configuration.secretsFolder)",
            "database": "\((try? configuration.database?.address().name) ?? "SQLite, in the data folder")",
            "blobs": "\((try? configuration.blobs?.place().name) ?? "files, in the data folder")",
            "garbageGraceDays": "\(configuration.garbageGraceDays)",
            "listen": "\(configuration.listen)",
            "telemetry": "\(configuration.telemetry.rawValue)",
            "metrics": "\(configuration.metrics.map { "\($0)" } ?? "none")",
            "operator": "\(configuration.operator.map { "\($0)" } ?? "none")",
            "console": "\(configuration.console.map { "\($0)" } ?? "none")",
            "origin": "\(configuration.publicOrigin ?? "the listening address")",
            "tls": "\(configuration.tls.map(\.certificate) ?? (configuration.isBehindProxy ? "by the proxy" : "none"))",
            "mail": "\(configuration.mail.map { "\($0.url) as \($0.from)" } ?? "none: mailboxes get no codes")",
            "texts":
                "\(configuration.sms.map { WebhookTargets.origin(of: $0.url) ?? $0.description } ?? "none: phones get no codes")",
            "webOrigins":
                "\(configuration.webOrigins.isEmpty ? "none" : configuration.webOrigins.joined(separator: ", "))",
            "webAt": "\(configuration.webAt ?? "here")",
            "registration": "\(configuration.registration.rawValue)",
            "storageQuota": limit(limits.storageQuota), "publicStorageQuota": limit(limits.publicStorageQuota),
            "recordsPerZone": limit(limits.recordsPerZone), "zonesPerUser": limit(limits.zonesPerUser),
            "requestRate": limit(limits.requestRate), "writeRate": limit(limits.writeRate),
            "readRate": limit(limits.readRate),
            "sharingRate": limit(limits.sharingRate), "anonymousRate": limit(limits.anonymousRate),
            "requestsInFlight": limit(limits.requestsInFlight), "bytesInFlight": limit(limits.bytesInFlight),
            "writeBudget": limit(limits.writeBudget), "mailPerHour": limit(limits.mailPerHour),
            "textsPerHour": limit(limits.textsPerHour), "maxMessageSize": limit(configuration.maximumMessageSize),
            "maxAssetSize": limit(configuration.maximumAssetSize),
        ]
        if let certificateValidUntil { metadata["certificateValidUntil"] = "\(certificateValidUntil)" }
        self.metadata = metadata
    }
}
