import Configuration
import Foundation
import SealService

extension ServerConfiguration {
    /// The settings by name, as flags spell them; `--tls-key` is `SEALKIT_TLS_KEY` in the environment and `tls.key` in
    /// a file.
    static let settings: [String: [String]] = [
        "data": ["data"], "secrets": ["secrets"],
        "database-url": ["database", "url"], "database-password": ["database", "password"], "blobs": ["blobs"],
        "s3-credentials": ["s3", "credentials"], "garbage-grace": ["garbage", "grace"], "listen": ["listen"],
        "metrics": ["metrics"],
        "operator": ["operator"], "console": ["console"], "telemetry": ["telemetry"], "origin": ["origin"],
        "tls-certificate": ["tls", "certificate"], "tls-key": ["tls", "key"], "behind-proxy": ["behind", "proxy"],
        "smtp-url": ["smtp", "url"], "smtp-from": ["smtp", "from"], "smtp-username": ["smtp", "username"],
        "smtp-password": ["smtp", "password"], "smtp-ca-file": ["smtp", "ca", "file"],
        "smtp-starttls": ["smtp", "starttls"], "smtp-check": ["smtp", "check"], "sms-webhook": ["sms", "webhook"],
        "sms-token": ["sms", "token"],
        "mail-per-hour": ["mail", "per", "hour"], "texts-per-hour": ["texts", "per", "hour"],
        "log-level": ["log", "level"], "log-format": ["log", "format"],
        "max-message-size": ["max", "message", "size"], "max-asset-size": ["max", "asset", "size"],
        "tombstone-age": ["tombstone", "age"], "shutdown-grace": ["shutdown", "grace"],
        "webhook-allow": ["webhook", "allow"],
        "fallback-url": ["fallback", "url"], "web-origin": ["web", "origin"], "web-at": ["web", "at"],
        "registration": ["registration"],
        "request-rate": ["request", "rate"], "write-rate": ["write", "rate"], "read-rate": ["read", "rate"],
        "sharing-rate": ["sharing", "rate"], "anonymous-rate": ["anonymous", "rate"],
        "requests-in-flight": ["requests", "in", "flight"], "bytes-in-flight": ["bytes", "in", "flight"],
        "write-budget": ["write", "budget"],
        "storage-quota": ["storage", "quota"], "public-storage-quota": ["public", "storage", "quota"],
        "records-per-zone": ["records", "per", "zone"], "zones-per-user": ["zones", "per", "user"],
    ]

    /// Those that may be written as lists in a file.
    static let lists: Set<String> = ["webhook-allow", "fallback-url", "web-origin"]

    /// `tls.key`.
    static func fileName(of setting: String) -> String { settings[setting, default: [setting]].joined(separator: ".") }

    /// What shows in no error and no log.
    private static let secretSettings: Set<String> = [
        "blobs", "database-url", "database-password", "smtp-password", "sms-token", "sms-webhook",
    ]

    /// Reads the settings: flags win over the environment (`SEALKIT_…`), which wins over the file (YAML, which JSON is
    /// as well), which wins over the defaults. The result is validated. Settings in the file that there are not are
    /// refused, by name and line, as are `SEALKIT_…` variables that nobody reads. An empty flag or variable, as a shell
    /// makes it of one that is not set, counts as not given.
    ///
    /// - Parameters:
    ///   - flags: by name without dashes: `["listen": "127.0.0.1:8080", "behind-proxy": "true"]`.
    ///   - environment: the process's variables.
    ///   - file: the path of a settings file.
    public static func load(
        flags: [String: String], environment: [String: String], file: String? = nil
    ) async throws -> ServerConfiguration {
        try requireKnown(environment)
        let (named, variables) = (given(flags), given(environment))
        let (reader, lines) = try Self.reader(flags: named, environment: variables, file: file)
        do {
            let configuration = try reader.configuration(variables)
            try configuration.validate()
            return configuration
        } catch {
            guard case ConfigurationError.invalid(let setting, let expected) = error, let file,
                named[setting] == nil, variables[environmentName(of: setting)] == nil,
                let line = lines[settings[setting, default: []]]
            else { throw error }
            throw ConfigurationError.invalidInFile(setting: setting, expected: expected, path: file, line: line)
        }
    }

    /// Where a server that is started with some settings has what; nil what they do not say.
    public struct Places: Sendable {
        public let data: String?
        public let secrets: String?
        public let origin: String?
        /// Where it is PostgreSQL's.
        public let database: DatabaseConfiguration?

        /// Whether the database is PostgreSQL.
        public var hasDatabaseServer: Bool { database != nil }
    }

    /// Of these settings, what says where something is. All else is not looked at, but for a file's form.
    /// - Parameters:
    ///   - data: the data folder, where a flag names it.
    ///   - secrets: likewise.
    ///   - environment: the process's variables.
    ///   - file: the path of a settings file.
    ///   - database: where flags name it.
    public static func places(
        data: String?, secrets: String?, environment: [String: String], file: String?,
        database: DatabaseConfiguration? = nil
    ) throws -> Places {
        let flags = [
            "data": data, "secrets": secrets, "database-url": database?.url, "database-password": database?.password,
        ].compactMapValues { $0 }
        let (reader, _) = try Self.reader(flags: flags, environment: environment, file: file)
        // Without the slashes at its end, to which a name could not be added.
        let folder = reader.text("data").map { ServerConfiguration(dataFolder: $0) }
        let secrets = reader.text("secrets").map { withoutTrailingSlashes($0) } ?? folder?.secretsFolder
        return Places(
            data: folder?.dataFolder, secrets: secrets, origin: reader.text("origin"),
            database: reader.text("database-url").map {
                DatabaseConfiguration(url: $0, password: reader.text("database-password"))
            })
    }

    /// The secrets folder of a server that is started with these settings; nil where no folder is named.
    public static func secretsFolder(
        data: String?, secrets: String?, environment: [String: String], file: String?
    ) throws -> String? {
        try places(data: data, secrets: secrets, environment: environment, file: file).secrets
    }

    /// The same for the data folder.
    public static func dataFolder(
        data: String?, environment: [String: String], file: String?
    ) throws -> String? {
        let (reader, _) = try Self.reader(
            flags: ["data": data].compactMapValues { $0 }, environment: environment, file: file)
        return reader.text("data").map { ServerConfiguration(dataFolder: $0).dataFolder }
    }

    /// An empty text would hide what is said in the next place, and then be none.
    private static func given(_ texts: [String: String]) -> [String: String] { texts.filter { !$0.value.isEmpty } }

    /// - Returns: also where in the file each setting stands.
    private static func reader(
        flags: [String: String], environment: [String: String], file: String?
    ) throws -> (Reader, lines: [[String]: Int]) {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, value) in given(flags) {
            guard let key = settings[name] else { throw ConfigurationError.unknownFlag(name) }
            values[AbsoluteConfigKey(key)] = ConfigValue(.string(value), isSecret: secretSettings.contains(name))
        }
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "flags", values: values),
            EnvironmentVariablesProvider(environmentVariables: given(environment), secretsSpecifier: .all)
                .prefixKeys(with: "sealkit"),
        ]
        var lines: [[String]: Int] = [:]
        if let file {
            let found = try SettingsFile(path: file, settings: settings)
            lines = found.lines
            let names = Dictionary(uniqueKeysWithValues: settings.map { ($1, $0) })
            let values = found.values.map { key, value in
                (
                    AbsoluteConfigKey(key),
                    ConfigValue(.string(value), isSecret: secretSettings.contains(names[key] ?? ""))
                )
            }
            providers.append(InMemoryProvider(name: "file", values: Dictionary(uniqueKeysWithValues: values)))
        }
        return (Reader(config: ConfigReader(providers: providers)), lines)
    }

    /// Every setting is text, wherever it comes from, so that one rule says what is valid.
    private struct Reader {
        let config: ConfigReader

        func text(_ name: String) -> String? {
            guard let key = ServerConfiguration.settings[name].map({ ConfigKey($0) }) else { return nil }
            let isSecret = ServerConfiguration.secretSettings.contains(name)
            let value = config.string(forKey: key, isSecret: isSecret)
            return value?.isEmpty == true ? nil : value
        }

        func flag(_ name: String) throws(ConfigurationError) -> Bool {
            switch text(name)?.lowercased() {
            case nil, "false", "no", "0", "off": return false
            case "true", "yes", "1", "on": return true
            default: throw .invalid(setting: name, expected: "true or false")
            }
        }

        /// - Parameter unit: of the number, in the plural.
        func number(
            _ name: String, _ unit: String, in range: ClosedRange<Int64>
        ) throws(ConfigurationError) -> Int64? {
            guard let text = text(name) else { return nil }
            guard let number = Int64(text), range.contains(number) else {
                let expected = "a number of \(unit), from \(range.lowerBound) to \(range.upperBound)"
                throw .invalid(setting: name, expected: expected)
            }
            return number
        }

        func choice<Choice: RawRepresentable & CaseIterable>(
            _ name: String, _: Choice.Type
        ) throws(ConfigurationError) -> Choice? where Choice.RawValue == String {
            guard let text = text(name) else { return nil }
            guard let choice = Choice(rawValue: text.lowercased()) else {
                let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalid(setting: name, expected: "one of \(all)")
            }
            return choice
        }

        /// - Parameter environment: the process's variables, for those that all tools of S3 read.
        func configuration(_ environment: [String: String]) throws(ConfigurationError) -> ServerConfiguration {
            guard let data = text("data") else { throw .missing(setting: "data") }
            var result = ServerConfiguration(dataFolder: data, secretsFolder: text("secrets"))
            if let listen = text("listen") {
                guard let address = ListenAddress(listen) else {
                    throw .invalid(setting: "listen", expected: "host:port, like 127.0.0.1:8080 or [::1]:8080")
                }
                result.listen = address
            }
            if let metrics = text("metrics") {
                guard let address = ListenAddress(metrics) else {
                    throw .invalid(setting: "metrics", expected: "host:port, like 127.0.0.1:9090 or [::1]:9090")
                }
                result.metrics = address
            }
            if let text = text("operator") {
                guard let address = ListenAddress(text) else {
                    throw .invalid(setting: "operator", expected: "host:port, like 127.0.0.1:8090 or [::1]:8090")
                }
                result.operator = address
            }
            if let text = text("console") {
                guard let address = ListenAddress(text) else {
                    throw .invalid(setting: "console", expected: "host:port, like 127.0.0.1:8091 or [::1]:8091")
                }
                result.console = address
            }
            result.telemetry = try choice("telemetry", Telemetry.self) ?? .on
            switch (text("database-url"), text("database-password")) {
            case (let url?, let password): result.database = DatabaseConfiguration(url: url, password: password)
            case (nil, nil): break
            case (nil, _): throw .missing(setting: "database-url")
            }
            switch (text("blobs"), text("s3-credentials")) {
            case (let url?, let file):
                result.blobs = BlobsConfiguration(url: url, credentials: try credentials(file, environment))
            case (nil, nil): break
            case (nil, _): throw .missing(setting: "blobs")
            }
            if let days = try number("garbage-grace", "days", in: 0...3_650) { result.garbageGrace = Int(days) }
            result.publicOrigin = text("origin")
            switch (text("tls-certificate"), text("tls-key")) {
            case (let certificate?, let key?): result.tls = TLSFiles(certificate: certificate, key: key)
            case (nil, nil): break
            case (nil, _): throw .missing(setting: "tls-certificate")
            case (_, nil): throw .missing(setting: "tls-key")
            }
            result.isBehindProxy = try flag("behind-proxy")
            if let url = text("smtp-url") {
                guard let from = text("smtp-from") else { throw .missing(setting: "smtp-from") }
                let (username, password) = (text("smtp-username"), text("smtp-password"))
                guard username == nil || password != nil else { throw .missingSecret(setting: "smtp-password") }
                guard password == nil || username != nil else { throw .missing(setting: "smtp-username") }
                result.mail = MailConfiguration(
                    url: url, from: from, username: username, password: password,
                    authorityFile: text("smtp-ca-file"),
                    startTLS: try choice("smtp-starttls", MailConfiguration.StartTLS.self) ?? .required,
                    check: try choice("smtp-check", MailConfiguration.Check.self) ?? .warn)
            } else if ServerConfiguration.settings.keys.contains(where: { $0.hasPrefix("smtp-") && text($0) != nil }) {
                // Whoever wrote one of them meant the server to send mail.
                throw .missing(setting: "smtp-url")
            }
            switch (text("sms-webhook"), text("sms-token")) {
            case (let url?, let token): result.sms = SMSConfiguration(url: url, token: token)
            case (nil, nil): break
            case (nil, _): throw .missing(setting: "sms-webhook")
            }
            if let level = try choice("log-level", LogLevel.self) { result.logLevel = level }
            if let format = try choice("log-format", LogFormat.self) { result.logFormat = format }
            if let size = try number("max-message-size", "bytes", in: 1024...(1 << 30)) {
                result.maximumMessageSize = Int(size)
            }
            if let size = try number("max-asset-size", "bytes", in: 1024...(1 << 50)) { result.maximumAssetSize = size }
            if let days = try number("tombstone-age", "days", in: 1...36_500) { result.tombstoneAge = Int(days) }
            if let grace = try number("shutdown-grace", "seconds", in: 1...3600) { result.shutdownGrace = Int(grace) }
            if let origins = text("webhook-allow") { result.webhookOrigins = list(origins) }
            if let origins = text("web-origin") { result.webOrigins = list(origins) }
            result.webAt = text("web-at")
            if let pairs = text("fallback-url") { result.fallbackURLs = try fallbackURLs(pairs) }
            if let registration = try choice("registration", Registration.self) { result.registration = registration }
            result.limits = try limits()
            return result
        }

        /// At the store of assets: a file that a setting names, else what all tools of S3 read.
        private func credentials(
            _ file: String?, _ environment: [String: String]
        ) throws(ConfigurationError) -> BlobsConfiguration.Credentials {
            if let file { return .file(file) }
            guard let accessKey = environment["AWS_ACCESS_KEY_ID"],
                let secretKey = environment["AWS_SECRET_ACCESS_KEY"]
            else { throw .missingCredentials }
            return .keys(
                accessKey: accessKey, secretKey: secretKey, sessionToken: environment["AWS_SESSION_TOKEN"])
        }

        /// What is between commas.
        private func list(_ text: String) -> [String] {
            text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }

        /// `container=url` pairs between spaces or commas; what they hold is judged by `validate`.
        private func fallbackURLs(_ pairs: String) throws(ConfigurationError) -> [String: String] {
            var urls: [String: String] = [:]
            for pair in pairs.split(whereSeparator: { $0 == " " || $0 == "," }) {
                let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2, urls.updateValue(parts[1], forKey: parts[0]) == nil else {
                    throw .invalid(setting: "fallback-url", expected: ServerConfiguration.fallbackURLForm)
                }
            }
            return urls
        }

        private func limits() throws(ConfigurationError) -> ServerLimits {
            var result = ServerLimits()
            let rates: ClosedRange<Int64> = 0...1_000_000
            if let rate = try number("request-rate", "requests a second", in: rates) { result.requestRate = Int(rate) }
            if let rate = try number("write-rate", "records and zones a second", in: rates) {
                result.writeRate = Int(rate)
            }
            if let rate = try number("read-rate", "records and zones a second", in: rates) {
                result.readRate = Int(rate)
            }
            if let rate = try number("sharing-rate", "calls a second", in: rates) { result.sharingRate = Int(rate) }
            if let rate = try number("anonymous-rate", "requests a second", in: rates) {
                result.anonymousRate = Int(rate)
            }
            if let count = try number("requests-in-flight", "requests", in: 0...1_000_000) {
                result.requestsInFlight = Int(count)
            }
            if let size = try number("bytes-in-flight", "bytes", in: 0...(1 << 40)) { result.bytesInFlight = Int(size) }
            if let seconds = try number("write-budget", "seconds", in: 0...3600) { result.writeBudget = Int(seconds) }
            let messages: ClosedRange<Int64> = 0...10_000
            if let count = try number("mail-per-hour", "messages an hour", in: messages) {
                result.mailPerHour = Int(count)
            }
            if let count = try number("texts-per-hour", "messages an hour", in: messages) {
                result.textsPerHour = Int(count)
            }
            let amounts: ClosedRange<Int64> = 0...(1 << 60)
            if let size = try number("storage-quota", "bytes", in: amounts) { result.storageQuota = size }
            if let size = try number("public-storage-quota", "bytes", in: amounts) { result.publicStorageQuota = size }
            if let count = try number("records-per-zone", "records", in: amounts) { result.recordsPerZone = count }
            if let count = try number("zones-per-user", "zones", in: amounts) { result.zonesPerUser = count }
            return result
        }
    }
}
