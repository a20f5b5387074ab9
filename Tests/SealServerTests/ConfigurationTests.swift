import Foundation
import Logging
import Testing

@testable import SealServer
@testable import SealService

@Suite(.timeLimit(.minutes(60))) struct ConfigurationTests {
    let folder = TemporaryFolder()

    @Test func flagsThenEnvironmentThenFileThenDefaults() async throws {
        let file = folder.file("sealkit.yaml")
        try """
        data: /from/file
        listen: 127.0.0.1:1111
        origin: https://file.example
        log: {level: debug, format: text}
        behind: {proxy: true}
        max: {message: {size: 2048}}
        smtp: {url: "smtp://127.0.0.1:587", from: "Notes <n@example.org>", password: secret, starttls: off}
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let configuration = try await ServerConfiguration.load(
            flags: ["listen": "127.0.0.1:3333", "tls-certificate": "/a,b.pem", "tls-key": "/c.pem"],
            environment: [
                "SEALKIT_LISTEN": "127.0.0.1:2222", "SEALKIT_ORIGIN": "https://env.example",
                "SEALKIT_SMTP_USERNAME": "u",
            ],
            file: file)
        #expect(configuration.dataFolder == "/from/file")
        #expect(configuration.secretsFolder == "/from/file.secrets")
        #expect(configuration.listen.port == 3333)
        #expect(configuration.publicOrigin == "https://env.example")
        #expect(configuration.tls == .init(certificate: "/a,b.pem", key: "/c.pem"))
        #expect(configuration.isBehindProxy)
        #expect(configuration.logLevel == .debug)
        #expect(configuration.logFormat == .text)
        #expect(configuration.maximumMessageSize == 2048)
        #expect(configuration.mail?.username == "u")
        #expect(configuration.mail?.password == "secret")
        #expect(configuration.mail?.startTLS == .off)
        #expect(!"\(configuration)".contains("secret\""))
        #expect(!String(reflecting: configuration).contains("password"))

        let json = folder.file("sealkit.json")
        try #"{"data": "/j", "shutdown": {"grace": 5}}"#.write(toFile: json, atomically: true, encoding: .utf8)
        #expect(try await ServerConfiguration.load(flags: [:], environment: [:], file: json).shutdownGrace == 5)
    }

    @Test func aDatabaseElsewhere() async throws {
        let file = folder.file("database.yaml")
        try """
        data: /d
        database: {url: "postgresql://sealkit@db.example.org/notes?sslmode=verify-full", password: hidden-word}
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let configuration = try await ServerConfiguration.load(flags: [:], environment: [:], file: file)
        #expect(configuration.database?.password == "hidden-word")
        for text in ["\(configuration)", String(reflecting: configuration)] { #expect(!text.contains("hidden-word")) }
        let report = StartReport(configuration, certificateValidUntil: nil, webBundle: nil).metadata
        #expect(report["database"] == "the database notes at db.example.org")
        #expect(!"\(report)".contains("hidden-word"))
        for url in [
            "postgresql://localhost/d", "postgresql://127.0.0.1,[::1]/d", "postgresql:///d?host=/run/postgresql",
            "postgresql:///d", "postgresql://db.example.org/d?sslmode=verify-ca",
        ] {
            let configuration = try await ServerConfiguration.load(
                flags: ["data": "/d"], environment: ["SEALKIT_DATABASE_URL": url])
            #expect(configuration.database?.url == url)
        }
        for url in ["postgresql://u:hidden-word@localhost/d", "postgresql://localhost/d?password=hidden-word"] {
            let error = await #expect(throws: ConfigurationError.self) {
                try await ServerConfiguration.load(flags: ["data": "/d", "database-url": url], environment: [:])
            }
            #expect("\(String(describing: error))".contains("--database-password-file"))
            #expect(!"\(String(describing: error))".contains("hidden-word"))
        }
        for url in ["mysql://localhost/d", "postgresql://localhost", "postgresql://localhost/d?service=x", "nonsense"] {
            let error = await #expect(throws: ConfigurationError.self) {
                try await ServerConfiguration.load(flags: ["data": "/d", "database-url": url], environment: [:])
            }
            #expect("\(String(describing: error))".contains("postgresql://user@host/database"))
        }
    }

    @Test func whatCannotBeIsRefused() async {
        func check(_ flags: [String: String], _ expected: ConfigurationError, line: Int = #line) async {
            await #expect(throws: expected, "line \(line)") {
                try await ServerConfiguration.load(flags: ["data": "/d"].merging(flags) { $1 }, environment: [:])
            }
        }
        await check(["data": ""], .missing(setting: "data"))
        await check(["lisen": "x"], .unknownFlag("lisen"))
        await check(
            ["listen": "nonsense"],
            .invalid(setting: "listen", expected: "host:port, like 127.0.0.1:8080 or [::1]:8080"))
        await check(["listen": "0.0.0.0:80"], .unprotectedListener(address: "0.0.0.0:80"))
        await check(["listen": "127.example.org:80"], .unprotectedListener(address: "127.example.org:80"))
        await check(["listen": "[::]:80"], .unprotectedListener(address: "[::]:80"))
        await check(["tls-key": "k"], .missing(setting: "tls-certificate"))
        await check(["behind-proxy": "maybe"], .invalid(setting: "behind-proxy", expected: "true or false"))
        await check(
            ["log-level": "loud"],
            .invalid(setting: "log-level", expected: "one of trace, debug, info, notice, warning, error, critical"))
        await check(["secrets": "/d/s"], .secretsInsideData(path: "/d/s"))
        await check(
            ["origin": "https://a/b"],
            .invalid(setting: "origin", expected: "an origin like https://notes.example.org, without a path"))
        await check(
            ["origin": "https://a%2Db.example"],
            .invalid(setting: "origin", expected: "an origin like https://notes.example.org, without a path"))
        await check(["smtp-url": "smtp://h"], .missing(setting: "smtp-from"))
        await check(["database-password": "word"], .missing(setting: "database-url"))
        for host in ["db.example.org", "192.0.2.1", "localhost,db.example.org", "[2001:db8::1]"] {
            for parameters in ["", "?sslmode=require", "?sslmode=disable"] {
                let bare = host.split(separator: ",").last.map { $0.filter { !"[]".contains($0) } } ?? ""
                await check(
                    ["database-url": "postgresql://u@\(host)/d\(parameters)"], .unprotectedDatabase(host: bare))
            }
        }
        // One alone would be a server that was meant to send mail, and does not.
        for (name, value) in [
            ("smtp-from", "a@example.org"), ("smtp-check", "required"), ("smtp-starttls", "off"),
            ("smtp-password", "word"),
        ] {
            await check([name: value], .missing(setting: "smtp-url"))
        }
        let relay = ["smtp-url": "smtps://h", "smtp-from": "a@example.org"]
        await check(relay.merging(["smtp-username": "codes"]) { $1 }, .missingSecret(setting: "smtp-password"))
        let missing = "\(ConfigurationError.missingSecret(setting: "smtp-password"))"
        #expect(
            ["--smtp-password-file", "SEALKIT_SMTP_PASSWORD", "smtp.password"].allSatisfy { missing.contains($0) },
            "\(missing)")
        await check(relay.merging(["smtp-password": "word"]) { $1 }, .missing(setting: "smtp-username"))
        await check(
            ["smtp-url": "http://h", "smtp-from": "a@b"],
            .invalid(setting: "smtp-url", expected: "smtp://host:port or smtps://host:port, without a user"))
        let noPlainName = ConfigurationError.invalid(
            setting: "origin",
            expected: "an https:// origin: clients speak plain http to a server on their own machine only")
        await check(["origin": "http://notes.example.org"], noPlainName)
        await check(["origin": "http://127.0.0.1:8080", "tls-certificate": "c", "tls-key": "k"], noPlainName)
        await check(
            ["smtp-check": "maybe", "smtp-url": "smtps://h", "smtp-from": "a@example.org"],
            .invalid(setting: "smtp-check", expected: "one of required, warn, off"))
    }

    // MARK: The environment

    private func variable(_ name: String) -> String { "SEALKIT_" + name }

    private func load(environment: [String: String]) async throws -> ServerConfiguration {
        let named = environment.map { (variable($0), $1) }
        return try await ServerConfiguration.load(
            flags: ["data": "/d"], environment: Dictionary(named) { $1 }.merging(["PATH": "/bin", "SEAL": "x"]) { $1 })
    }

    @Test func aVariableThatIsNoSettingIsRefusedByName() async throws {
        for (name, meant) in [
            ("LISEN", "LISTEN"), ("WRITE_BUGDET", "WRITE_BUDGET"), ("TLSKEY", "TLS_KEY"),
            ("TLS_CERT", "TLS_CERTIFICATE"), ("STORAGE_QUOTAS", "STORAGE_QUOTA"), ("REGISTRATIONS", "REGISTRATION"),
            // A file's name would be taken for the password.
            ("SMTP_PASSWORD_FILE", nil), ("TLS", nil), ("DATABASE", nil), ("PORT", nil), ("", nil), ("listen", nil),
        ] as [(String, String?)] {
            let expected = ConfigurationError.unknownVariable(name: variable(name), meant: meant.map(variable))
            await #expect(throws: expected) { try await load(environment: [name: "canary"]) }
            #expect("\(expected)".contains(variable(meant ?? name)))
            #expect(!"\(expected)".contains("canary"))
        }
    }

    /// Those of Kubernetes services that are called like the program, or begin like it.
    @Test func theAddressesOfServicesAreNoSettings() async throws {
        let services = [
            "SERVICE_HOST": "10.0.0.1", "SERVICE_PORT": "8080", "SERVICE_PORT_HTTP": "8080",
            "PORT": "tcp://10.0.0.1:8080", "PORT_8080_TCP": "tcp://10.0.0.1:8080",
            "PORT_8080_TCP_PROTO": "tcp", "PORT_8080_TCP_ADDR": "10.0.0.1",
        ]
        #expect(try await load(environment: services).dataFolder == "/d")
        let beside = Dictionary(uniqueKeysWithValues: services.map { ("DB_\($0)", $1) })
        #expect(try await load(environment: beside).dataFolder == "/d")
    }

    /// As `--env SEALKIT_REGISTRATION=$REGISTRATION` makes it where the shell has no such variable.
    @Test func whatIsEmptyIsNotGiven() async throws {
        let file = folder.file("empty.yaml")
        try "data: /d\nregistration: invite\nstorage: {quota: 1000}\nlog: {level: loud}\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        let empty = [variable("REGISTRATION"): "", variable("STORAGE_QUOTA"): "", variable("LOG_LEVEL"): ""]
        await #expect(
            throws: ConfigurationError.invalidInFile(
                setting: "log-level", expected: "one of trace, debug, info, notice, warning, error, critical",
                path: file, line: 4)
        ) { try await ServerConfiguration.load(flags: ["log-level": ""], environment: empty, file: file) }
        let configuration = try await ServerConfiguration.load(
            flags: ["registration": "", "log-level": "debug"], environment: empty, file: file)
        #expect(configuration.registration == .invite)
        #expect(configuration.limits.storageQuota == 1000)
        // A flag that is empty leaves it to the environment.
        let closed = try await ServerConfiguration.load(
            flags: ["data": "/d", "registration": ""], environment: [variable("REGISTRATION"): "closed"])
        #expect(closed.registration == .closed)
        let places = try ServerConfiguration.places(
            data: nil, secrets: nil, environment: [variable("DATA"): ""], file: file)
        #expect(places.data == "/d")
    }

    /// What is written about or read anywhere here may be in the environment of a server.
    @Test func everyVariableOfThisProjectIsKnown() async throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        var names: Set<String> = []
        for part in ["README.md", "Makefile", "Sources", "Tests", "Fuzz", "Vectors", "Examples", "Documentation"] {
            let path = root.appendingPathComponent(part)
            let inner = FileManager.default.enumerator(
                at: path, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
            for file in [path] + (inner?.compactMap { $0 as? URL } ?? []) {
                let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
                guard text.contains("SEALKIT_") else { continue }
                for match in text.matches(of: /SEALKIT_([A-Z]+(?:_[A-Z]+)*)\b/) { names.insert(String(match.1)) }
            }
        }
        names = names.filter { !$0.hasPrefix("SERVICE_") && !$0.hasPrefix("PORT") }
        #expect(names.count > 50)
        for name in names.sorted() { _ = try await load(environment: [name: ""]) }
    }

    /// Clients know a server by its certificate's name, its proxy's or its machine's: not by `0.0.0.0`.
    @Test func beyondThisMachineTheNameHasToBeGiven() async throws {
        let flags: [[String: String]] = [
            ["listen": "0.0.0.0:443", "tls-certificate": "c", "tls-key": "k"],
            ["listen": "[::]:443", "tls-certificate": "c", "tls-key": "k"],
            ["listen": "192.0.2.1:443", "tls-certificate": "c", "tls-key": "k"],
            ["listen": "127.0.0.1:443", "tls-certificate": "c", "tls-key": "k"],
            ["listen": "0.0.0.0:80", "behind-proxy": "true"],
            ["listen": "127.0.0.1:80", "behind-proxy": "true"],
        ]
        for given in flags {
            let missing = ConfigurationError.missingOrigin(listen: given["listen"] ?? "")
            await #expect(throws: missing, "\(given)") {
                try await ServerConfiguration.load(flags: given.merging(["data": "/d"]) { $1 }, environment: [:])
            }
            #expect(missing.description.contains("--origin"))
            let named = given.merging(["data": "/d", "origin": "https://notes.example.org"]) { $1 }
            #expect(
                try await ServerConfiguration.load(flags: named, environment: [:]).origin(port: 1)
                    == "https://notes.example.org")
        }
    }

    @Test func aRelayElsewhereNeedsTLS() async throws {
        func load(_ url: String, _ mode: String, password: String? = nil) async throws -> MailConfiguration? {
            var flags = ["data": "/d", "smtp-url": url, "smtp-from": "a@example.org", "smtp-starttls": mode]
            if let password { flags.merge(["smtp-username": "codes", "smtp-password": password]) { $1 } }
            return try await ServerConfiguration.load(flags: flags, environment: [:]).mail
        }
        for (url, host) in [
            ("smtp://mail.example.org:25", "mail.example.org"), ("smtp://10.0.0.1", "10.0.0.1"),
            ("smtp://127.example.org", "127.example.org"),
        ] {
            for (mode, password) in [("off", nil), ("off", "secret-word"), ("opportunistic", "secret-word")] {
                await #expect(throws: ConfigurationError.unprotectedRelay(host: host), "\(url) \(mode)") {
                    try await load(url, mode, password: password)
                }
            }
            for (mode, password) in [("required", nil), ("required", "secret-word"), ("opportunistic", nil)] {
                _ = try await load(url, mode, password: password)
            }
        }
        for mode in ["off", "opportunistic", "required"] {
            // From the start, whatever is said about STARTTLS.
            _ = try await load("smtps://mail.example.org", mode, password: "secret-word")
            for url in ["smtp://127.0.0.1:25", "smtp://localhost", "smtp://[::1]:25"] {
                _ = try await load(url, mode, password: "secret-word")
            }
        }
        #expect(!ConfigurationError.unprotectedRelay(host: "mail.example.org").description.contains("secret-word"))
    }

    @Test func loopbackNeedsNoTLS() async throws {
        for listen in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:0"] {
            #expect(
                try await ServerConfiguration.load(flags: ["data": "/d", "listen": listen], environment: [:]).listen
                    .isLoopback)
        }
        #expect(
            try await ServerConfiguration.load(
                flags: ["data": "/d", "listen": "0.0.0.0:1", "behind-proxy": "true", "origin": "https://a.example"],
                environment: [:]
            ).tls == nil)
        let configuration = ServerConfiguration(dataFolder: "/d/", listen: ListenAddress(host: "::1", port: 0))
        #expect(configuration.origin(port: 8443) == "http://[::1]:8443")
        #expect(configuration.secretsFolder == "/d.secrets")
    }
}
