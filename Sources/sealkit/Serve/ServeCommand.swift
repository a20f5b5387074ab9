import ArgumentParser
import Foundation
import SealKit
import SealServer
import SealService
import SealStorage
import SealSystem
import Synchronization

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the server.",
        discussion: """
            Prints one line to standard output when it accepts connections; logs go to standard error. It stops at SIGINT or \
            SIGTERM, once requests under way are answered. A renewed certificate is taken up within a minute, or at SIGHUP.

              sealkit serve --data /var/lib/sealkit --listen 0.0.0.0:443 --origin https://notes.example.org \\
                --tls-certificate fullchain.pem --tls-key key.pem

            Each setting may also come from the environment (SEALKIT_DATA, SEALKIT_TLS_KEY, …) or from a file (data, tls.key, \
            …, as YAML or JSON): flags win over the environment, which wins over the file; an empty one counts as not given. With TLS, behind a proxy or on a \
            network, --origin has to be given: clients do not know the server by the address that it listens on.
            """)

    @Option(
        help: ArgumentHelp(
            "Folder of the assets and the database, unless --blobs and --database-url say otherwise. Back it up.",
            valueName: "folder"), completion: .directory)
    var data: String?

    @Option(
        help: ArgumentHelp(
            "Folder of what must not lie with the data: the key of address hashes, the token signing keys. Default: <data>.secrets.",
            valueName: "folder"), completion: .directory)
    var secrets: String?

    @Option(
        help: ArgumentHelp(
            "A PostgreSQL database in the place of SQLite's file: postgresql://user@host/database?sslmode=verify-full&sslrootcert=ca.pem, as libpq has it, without a password. On another machine it is reached by TLS with sslmode=verify-full or verify-ca. Default: a file in the data folder.",
            valueName: "url"))
    var databaseUrl: String?

    @Option(
        help: ArgumentHelp(
            "File with the password at the database. $SEALKIT_DATABASE_PASSWORD serves too, and libpq's own password file; there is no flag for the password itself, which other users could see.",
            valueName: "file"), completion: .file())
    var databasePasswordFile: String?

    @Option(
        help: ArgumentHelp(
            "An S3 store for assets in the place of files: s3://bucket/prefix?endpoint=https://s3.example.org:8333, also with region=…, addressing=host and ca=FILE. Without an endpoint it is Amazon's. On another machine it is reached by TLS. Default: files in the data folder.",
            valueName: "url"))
    var blobs: String?

    @Option(
        help: ArgumentHelp(
            "File with the credentials at the S3 store, as Amazon's tools have it: aws_access_key_id = … and aws_secret_access_key = …. Default: $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY.",
            valueName: "file"), completion: .file())
    var s3Credentials: String?

    @Option(
        help: ArgumentHelp(
            "How long the file of a deleted asset stays, so that a database of then finds it. Default: 7 with --database-url or --blobs, else 0.",
            valueName: "days"))
    var garbageGrace: String?

    @Option(
        help: ArgumentHelp(
            "Where to listen; port 0 lets the system choose. Default: 127.0.0.1:8080.", valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "Where GET /metrics can be read in Prometheus's text format: 127.0.0.1:9090. Whoever reaches it may read it; it has counts and times, no ids, names or addresses. Default: nowhere.",
            valueName: "host:port"))
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "Where sealkit admin reaches this server, with the token in operator.token of the secrets folder: 127.0.0.1:8090. On another address than this machine's own it speaks TLS, by the server's certificate. Default: nowhere.",
            valueName: "host:port"))
    var `operator`: String?

    @Option(
        help: ArgumentHelp(
            "Where a browser finds the console, with the token in operator.token of the secrets folder: 127.0.0.1:8091. On another address than this machine's own it speaks TLS, by the server's certificate. Default: nowhere.",
            valueName: "host:port"))
    var console: String?

    @Option(
        help: ArgumentHelp(
            "Whether requests are counted and, but for counts, logged for a week, into telemetry.sqlite in the data folder, for sealkit telemetry, logs and alerts. No names of people, addresses, records or values. Default: on.",
            valueName: "on|counts|off"))
    var telemetry: String?

    @Option(
        help: ArgumentHelp(
            "The address that clients use; logins sign it. Default: the listen address, for clients on this machine.",
            valueName: "url"))
    var origin: String?

    @Option(help: ArgumentHelp("PEM file: the certificate with its chain.", valueName: "file"), completion: .file())
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("PEM file: the certificate's private key.", valueName: "file"), completion: .file())
    var tlsKey: String?

    @Flag(help: "A proxy in front ends TLS: allow listening beyond this machine without it.")
    var behindProxy = false

    @Option(
        help: ArgumentHelp(
            "Mail relay for verification codes: smtp://host:port or smtps://host:port.", valueName: "url"))
    var smtpUrl: String?

    @Option(
        help: ArgumentHelp(
            "Sender of the codes: codes@example.org, or \"Notes <codes@example.org>\".", valueName: "address"))
    var smtpFrom: String?

    @Option(help: ArgumentHelp("User at the relay.", valueName: "name"))
    var smtpUsername: String?

    @Option(
        help: ArgumentHelp(
            "File with the password at the relay. $SEALKIT_SMTP_PASSWORD serves too; there is no flag for the password itself, which other users could see.",
            valueName: "file"), completion: .file())
    var smtpPasswordFile: String?

    @Option(
        help: ArgumentHelp("PEM file of the authorities to trust for the relay.", valueName: "file"),
        completion: .file())
    var smtpCaFile: String?

    @Option(
        help: ArgumentHelp(
            "required, opportunistic (with a password for a relay on this machine only) or off (for a relay on this machine only). Default: required.",
            valueName: "mode"))
    var smtpStarttls: String?

    @Option(
        help: ArgumentHelp(
            "Whether the relay is tried at the start, without sending anything: warn (the log and /health say what came of it), required (the server does not start without it) or off. Default: warn.",
            valueName: "mode"))
    var smtpCheck: String?

    @Option(
        help: ArgumentHelp(
            "SMS gateway for verification codes: each text message is a signed POST of JSON to this URL. $SEALKIT_SMS_WEBHOOK serves too, should the URL be a secret.",
            valueName: "url"))
    var smsWebhook: String?

    @Option(
        help: ArgumentHelp(
            "File with a token that the gateway wants: Authorization: Bearer. $SEALKIT_SMS_TOKEN serves too.",
            valueName: "file"), completion: .file())
    var smsTokenFile: String?

    @Option(
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical. Default: info.", valueName: "level")
    )
    var logLevel: String?

    @Option(help: ArgumentHelp("json or text. Default: json.", valueName: "format"))
    var logFormat: String?

    @Option(help: ArgumentHelp("The largest request message. Default: 4 MiB.", valueName: "bytes"))
    var maxMessageSize: String?

    @Option(help: ArgumentHelp("The largest asset. Default: 16 GiB.", valueName: "bytes"))
    var maxAssetSize: String?

    @Option(
        help: ArgumentHelp(
            "How long a record's deletion stays in its zone's feed; devices that were away for longer start anew. Default: 180.",
            valueName: "days"))
    var tombstoneAge: String?

    @Option(
        help: ArgumentHelp(
            "How long requests under way may take to finish at shutdown. Default: 30.", valueName: "seconds"))
    var shutdownGrace: String?

    @Option(
        help: ArgumentHelp(
            "An origin that webhooks of subscriptions may go to: https://hooks.example.org. Repeat it for more. Default: none.",
            valueName: "origin"))
    var webhookAllow: [String] = []

    @Option(
        help: ArgumentHelp(
            "Where the page of a share URL sends people for a container's app: org.example.notes=https://notes.example.org/get. Repeat it for more containers. Default: none.",
            valueName: "container=url"))
    var fallbackUrl: [String] = []

    @Option(
        help: ArgumentHelp(
            "An origin whose pages may call this server from a browser: https://app.example.org, as browsers write it. Repeat it for more. Default: none.",
            valueName: "origin"))
    var webOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "The origin where the page of share URLs stands, as sealkit web export writes it: browsers are sent there, and its page may call this server. Default: here.",
            valueName: "origin"))
    var webAt: String?

    @Option(
        help: ArgumentHelp(
            "Who may make an account: open (anybody who reaches the server), invite (whoever has a code of sealkit admin invite), closed (nobody). Default: open.",
            valueName: "mode"))
    var registration: String?

    @OptionGroup(title: "Limits") var limits: LimitOptions

    @Option(help: ArgumentHelp("Settings file, YAML or JSON.", valueName: "file"), completion: .file())
    var config: String?

    func run() async throws {
        let configuration = try await ServerConfiguration.load(
            flags: try flags(), environment: ProcessInfo.processInfo.environment, file: config)
        let scheme = configuration.tls == nil ? "http" : "https"
        // SIGHUP says that there is a new certificate. A start may take minutes, and until then that ends nothing:
        // systemd would take it for a wanted end.
        if configuration.tls != nil { _ = signal(SIGHUP, SIG_IGN) }
        OpenFileLimit.raise()
        Heap.limitArenas(max(2, ProcessInfo.processInfo.activeProcessorCount))
        let unsaid = Mutex<SealKitError?>(nil)
        do {
            let server = try await Server(configuration: configuration) { address in
                do throws(SealKitError) { try Output.standardOutput("listening on \(scheme)://\(address)") } catch {
                    // Whoever waits for that line waits for ever: the server ends as it is ended.
                    unsaid.withLock { $0 = error }
                    kill(getpid(), SIGTERM)
                }
            }
            try await server.run()
        } catch let error as ConfigurationError {
            throw error
        } catch let error as DataFolderInUse {
            throw Failure.Local(status: .tryLater, reason: "\(error)")
        } catch let error as SecretFileError {
            throw Failure.Local(status: .badInput, reason: "\(error)")
        } catch let error as ListenFailure {
            throw Failure.Local(status: error.cause == .inUse ? .tryLater : .badInput, reason: "\(error)")
        } catch let error as StorageError {
            throw Failure.Local(
                status: Self.status(of: error), reason: "the server cannot run: \(error)",
                remedy: Self.remedy(for: error, configuration))
        } catch let error as BlobStoreError {
            throw Failure.Local(status: Self.status(of: error), reason: "the server cannot run: \(error)")
        } catch let error as RelayFailure {
            throw Failure.Local(status: .network, reason: "\(error)")
        } catch {
            // The system's own texts: a folder that cannot be written.
            throw Failure.Local(status: .cannotWrite, reason: "the server cannot run: \(error)")
        }
        if let error = unsaid.withLock({ $0 }) { throw error }
    }

    private static func status(of error: StorageError) -> ExitStatus {
        switch error {
        case .unavailable: .network
        case .inUse: .tryLater
        case .damaged: .integrity
        case .unsuitable, .denied: .badInput
        default: .cannotWrite
        }
    }

    private static func remedy(for error: StorageError, _ configuration: ServerConfiguration) -> String {
        guard case .damaged = error else { return "" }
        guard configuration.database == nil else {
            return "pg_amcheck looks at PostgreSQL's tables and indexes; restore the newest backup that is whole"
        }
        let check = AdvisedCommand.line("check", [("data", configuration.dataFolder)])
        return "see what is damaged, and what to do, with \(check)"
    }

    private static func status(of error: BlobStoreError) -> ExitStatus {
        switch error {
        case .unavailable: .network
        case .refused, .untrue, .notOurs: .badInput
        default: .cannotWrite
        }
    }

    private func flags() throws -> [String: String] {
        var flags: [String: String] = [:]
        flags["data"] = data
        flags["secrets"] = secrets
        flags["database-url"] = databaseUrl
        flags["database-password"] = try GivenFile.secret(in: databasePasswordFile, "password")
        flags["blobs"] = blobs
        flags["s3-credentials"] = s3Credentials
        flags["garbage-grace"] = garbageGrace
        flags["listen"] = listen
        flags["metrics"] = metrics
        flags["telemetry"] = telemetry
        flags["operator"] = `operator`
        flags["console"] = console
        flags["origin"] = origin
        flags["tls-certificate"] = tlsCertificate
        flags["tls-key"] = tlsKey
        if behindProxy { flags["behind-proxy"] = "true" }
        flags["smtp-url"] = smtpUrl
        flags["smtp-from"] = smtpFrom
        flags["smtp-username"] = smtpUsername
        flags["smtp-password"] = try GivenFile.secret(in: smtpPasswordFile, "password")
        flags["smtp-ca-file"] = smtpCaFile
        flags["smtp-starttls"] = smtpStarttls
        flags["smtp-check"] = smtpCheck
        flags["sms-webhook"] = smsWebhook
        flags["sms-token"] = try GivenFile.secret(in: smsTokenFile, "token")
        flags["log-level"] = logLevel
        flags["log-format"] = logFormat
        flags["max-message-size"] = maxMessageSize
        flags["max-asset-size"] = maxAssetSize
        flags["tombstone-age"] = tombstoneAge
        flags["shutdown-grace"] = shutdownGrace
        flags["webhook-allow"] = webhookAllow.isEmpty ? nil : webhookAllow.joined(separator: ",")
        flags["registration"] = registration
        flags["fallback-url"] = fallbackUrl.isEmpty ? nil : fallbackUrl.joined(separator: " ")
        flags["web-origin"] = webOrigin.isEmpty ? nil : webOrigin.joined(separator: ",")
        flags["web-at"] = webAt
        flags.merge(limits.flags) { $1 }
        return flags
    }
}
