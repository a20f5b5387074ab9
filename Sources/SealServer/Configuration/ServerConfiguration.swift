public import SealService

/// Everything that can be set about a server. Built in code, or by `load(flags:environment:file:)`.
public struct ServerConfiguration: Sendable {
    /// Holds telemetry and, unless they are elsewhere, the database and the blobs. Back it up.
    public var dataFolder: String
    /// Holds what must not lie on the database's disk or in its backups: the key of address hashes, the token signing
    /// keys.
    public var secretsFolder: String
    public var listen: ListenAddress
    /// The address that clients use, without a path: it goes into URLs and into what a login signs. Nil: the listen
    /// address, which will do for clients on this machine only; with TLS, behind a proxy or on a network there has to
    /// be one.
    public var publicOrigin: String?
    public var tls: TLSFiles?
    /// A proxy in front of this server ends TLS, so that listening beyond loopback without TLS is meant.
    public var isBehindProxy: Bool
    public var mail: MailConfiguration?
    public var sms: SMSConfiguration?
    public var logLevel: LogLevel
    public var logFormat: LogFormat
    /// The largest wire message, in bytes.
    public var maximumMessageSize: Int
    /// The largest asset, in bytes of ciphertext.
    public var maximumAssetSize: Int64
    /// Days until a record's deletion leaves its zone's feed; change tokens of before it expire then.
    public var tombstoneAge: Int
    /// How long requests under way may take to finish at shutdown, in seconds.
    public var shutdownGrace: Int
    /// The origins that webhooks may go to: `https://hooks.example.org`, or `http://127.0.0.1:9000` on this machine.
    public var webhookOrigins: [String]
    /// Where somebody who opens a share URL in a browser gets the app of a container, by container.
    public var fallbackURLs: [String: String]
    /// The origins whose pages may call this server from a browser: `https://app.example.org`, or
    /// `http://localhost:9000` on this machine. Each as browsers write it.
    public var webOrigins: [String]
    /// The origin where the page of share URLs stands, as `sealkit web export` writes it; it may call this server as
    /// one of `webOrigins`. Nil: here.
    public var webAt: String?
    /// Who may make an account.
    public var registration: Registration
    /// Rates, quotas, and what is under way at once.
    public var limits: ServerLimits
    /// Where `GET /metrics` can be read, by whoever reaches it: counts and times in Prometheus's text format, no ids,
    /// names or addresses. Nil: nowhere, and nothing is measured but for a factory that `Server` was given.
    public var metrics: ListenAddress?
    /// Where `sealkit admin` reaches the server, with the operator's token: a listener of its own. On another address
    /// than this machine's own it speaks TLS, and there has to be a certificate. Nil: nowhere.
    public var `operator`: ListenAddress?
    /// Where the operator's browser reaches the console, with the operator's token: a listener of its own. On another
    /// address than this machine's own it speaks TLS, by the server's certificate. Nil: nowhere.
    public var console: ListenAddress?
    /// Whether requests are counted and logged, into `telemetry.sqlite` in the data folder, for `sealkit telemetry` and
    /// `sealkit logs`.
    public var telemetry: Telemetry
    /// Where all but assets and telemetry is. Nil: a SQLite file in the data folder.
    public var database: DatabaseConfiguration?
    /// Where assets are. Nil: files in the data folder.
    public var blobs: BlobsConfiguration?
    /// How long the file of an asset that was deleted stays, in days: a database that is put back from a moment within
    /// them finds every asset that it names. Nil: a week where the database is PostgreSQL or assets are in an S3 store,
    /// else no time at all, since `sealkit backup` copies both.
    public var garbageGrace: Int?

    /// As it holds.
    var garbageGraceDays: Int { garbageGrace ?? (database == nil && blobs == nil ? 0 : 7) }

    public static let defaultMaximumMessageSize = 4 * 1024 * 1024
    public static let defaultListen = ListenAddress(host: "127.0.0.1", port: 8080)

    public init(
        dataFolder: String,
        secretsFolder: String? = nil,
        listen: ListenAddress = defaultListen,
        publicOrigin: String? = nil,
        tls: TLSFiles? = nil,
        isBehindProxy: Bool = false,
        mail: MailConfiguration? = nil,
        sms: SMSConfiguration? = nil,
        logLevel: LogLevel = .info,
        logFormat: LogFormat = .json,
        maximumMessageSize: Int = defaultMaximumMessageSize,
        maximumAssetSize: Int64 = 16 << 30,
        tombstoneAge: Int = 180,
        shutdownGrace: Int = 30,
        webhookOrigins: [String] = [],
        fallbackURLs: [String: String] = [:],
        webOrigins: [String] = [],
        webAt: String? = nil,
        registration: Registration = .open,
        limits: ServerLimits = ServerLimits(),
        metrics: ListenAddress? = nil,
        operator: ListenAddress? = nil,
        console: ListenAddress? = nil,
        telemetry: Telemetry = .on,
        database: DatabaseConfiguration? = nil,
        blobs: BlobsConfiguration? = nil,
        garbageGrace: Int? = nil
    ) {
        self.dataFolder = Self.withoutTrailingSlashes(dataFolder)
        self.secretsFolder = Self.withoutTrailingSlashes(secretsFolder ?? self.dataFolder + ".secrets")
        self.listen = listen
        self.publicOrigin = publicOrigin
        self.tls = tls
        self.isBehindProxy = isBehindProxy
        self.mail = mail
        self.sms = sms
        self.logLevel = logLevel
        self.logFormat = logFormat
        self.maximumMessageSize = maximumMessageSize
        self.maximumAssetSize = maximumAssetSize
        self.tombstoneAge = tombstoneAge
        self.shutdownGrace = shutdownGrace
        self.webhookOrigins = webhookOrigins
        self.fallbackURLs = fallbackURLs
        self.webOrigins = webOrigins
        self.webAt = webAt
        self.registration = registration
        self.limits = limits
        self.metrics = metrics
        self.operator = `operator`
        self.console = console
        self.telemetry = telemetry
        self.database = database
        self.blobs = blobs
        self.garbageGrace = garbageGrace
    }

    /// PEM files: the certificate with its chain, and its private key.
    public struct TLSFiles: Sendable, Equatable {
        public var certificate: String
        public var key: String

        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    public enum LogLevel: String, Sendable, CaseIterable { case trace, debug, info, notice, warning, error, critical }
    public enum Registration: String, Sendable, CaseIterable {
        /// Anybody who reaches the server.
        case open
        /// Whoever has a code that the operator made (`sealkit admin invite`).
        case invite
        case closed
    }

    public enum Telemetry: String, Sendable, CaseIterable {
        case on
        /// Without a log of single requests.
        case counts
        case off
    }

    public enum LogFormat: String, Sendable, CaseIterable { case json, text }

    /// The origin for URLs, when the server listens on `port`.
    public func origin(port: Int) -> String {
        if let publicOrigin { return publicOrigin }
        let address = ListenAddress(host: listen.host, port: port)
        return (tls == nil ? "http://" : "https://") + address.description
    }

    static func withoutTrailingSlashes(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
