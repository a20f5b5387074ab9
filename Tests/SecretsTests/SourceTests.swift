import Foundation
import SealPrimitives
import SealService
import Testing

/// What only the sources tell: where a secret is kept as text, compared, or put into a message. Each place that is
/// right is written out here; a new one has to be looked at.
@Suite(.timeLimit(.minutes(60))) struct SourceTests {
    static let modules = [
        "SealPrimitives", "SealStatements", "SealEnvelope", "SealClient", "SealCoding", "SealHPKE", "SealWeb",
        "SealKit", "SealStorage", "SealService", "SealServer", "sealkit",
    ]

    /// Lines of code, comments left out. SealVectors is not looked at: the vectors' secrets are public.
    static func lines(_ isWanted: (Substring) -> Bool) throws -> [String] {
        try SecretTypes.swiftFiles(in: modules).flatMap { file in
            file.text.split(separator: "\n").filter(isWanted).compactMap { line in
                let code = line.drop { $0 == " " }
                return code.hasPrefix("//") ? nil : "\(file.name): \(code)"
            }
        }
    }

    @Test func `A secret that is kept as text is in a type that does not show it`() throws {
        let names = ["token", "password", "passphrase", "secret", "seed", "onetimeurls", "plaintext", "recoverykey"]
        let found = try SourceTests.lines { line in
            guard line.contains("let ") || line.contains("var "), !line.contains("{"), !line.contains("static "),
                let colon = line.firstIndex(of: ":")
            else { return false }
            let name = (line[..<colon].split(separator: " ").last ?? "").lowercased()
            let type = line[line.index(after: colon)...].drop { $0 == " " }
            return (names.contains { name.contains($0) } || name == "url")
                && ["String", "[UInt8]", "Data", "Substring", "[String"].contains { type.hasPrefix($0) }
        }
        #expect(
            found == [
                // Hidden by `WireMessage`: places in feeds, and a link's secret under its inviter's key.
                "SealClient/Wire/Wire+RecordRequests.swift: public var token: [UInt8] = []",
                "SealClient/Wire/Wire+RecordRequests.swift: public var token: [UInt8] = []",
                "SealClient/Wire/Wire+Sharing.swift: public var keptSecret: [UInt8] = []",
                "SealClient/Wire/Wire+Zones.swift: public var token: [UInt8] = []",
                "SealClient/Wire/Wire+Zones.swift: public var token: [UInt8] = []",
                // Written to the credential's file by its own function, private to it.
                "SealCoding/ServerCredentialFile.swift: var signingSeed: String",
                // A place in a feed.
                "SealWeb/SharedZone.swift: private var token: [UInt8] = []",
                // Written to the key file by its own function, private to it.
                "SealKit/Account/KeyFile.swift: var seeds: String",
                // Hidden by `WebhookVerifier`.
                "SealKit/Push/WebhookVerifier.swift: private let url: String",
                // Hidden by `Share.Kept`.
                "SealKit/Sharing/Share+Restore.swift: package var url: String?",
                "SealKit/Sharing/Share+Restore.swift: package var oneTimeURLs: [String: String] = [:]",
                // Hidden by `Share`.
                "SealKit/Sharing/Share.swift: public internal(set) var url: String?",
                "SealKit/Sharing/Share.swift: var oneTimeURLs: [String: String] = [:]",
                // Hidden by `PostgresAddress`.
                "SealStorage/PostgreSQL/PostgresAddress.swift: private let password: String?",
                // Hidden by `WebhookRow`.
                "SealService/Push/WebhookRow.swift: package let url: String",
                // A hash.
                "SealService/Sessions/Session.swift: package let tokenHash: [UInt8]",
                // Hidden by `Sessions.Issued`.
                "SealService/Sessions/Sessions.swift: package let token: String",
                // A path.
                "SealServer/Backup/Backup.swift: private let secretsFolder: String",
                // Fingerprints.
                "SealServer/Backup/BackupManifest.swift: let secrets: [String: String]",
                // A place.
                "SealServer/Configuration/BlobsConfiguration.swift: public var url: String",
                // Hidden by `DatabaseConfiguration`.
                "SealServer/Configuration/DatabaseConfiguration.swift: public var url: String",
                "SealServer/Configuration/DatabaseConfiguration.swift: public var password: String?",
                // Hidden by `MailConfiguration`, and by `SMSConfiguration`.
                "SealServer/Configuration/MessageConfiguration.swift: public var url: String",
                "SealServer/Configuration/MessageConfiguration.swift: public var password: String?",
                "SealServer/Configuration/MessageConfiguration.swift: public var url: String",
                "SealServer/Configuration/MessageConfiguration.swift: public var token: String?",
                // A path.
                "SealServer/Configuration/ServerConfiguration+Load.swift: public let secrets: String?",
                "SealServer/Configuration/ServerConfiguration.swift: public var secretsFolder: String",
                // The mail relay's, without login.
                "SealServer/Messages/RelayFailure.swift: public let url: String",
                // Hidden by `S3Credentials`.
                "SealServer/S3/S3Credentials.swift: let sessionToken: String?",
                // Arguments of commands: paths, and a share's URL that its user typed.
                "sealkit/Account/AccountPassphrase.swift: var newPassphraseFile: String?",
                "sealkit/Account/AccountRecoveryPassphrase.swift: var recoveryPassphraseFile: String?",
                "sealkit/Admin/OperatorOptions.swift: var tokenFile: String?",
                "sealkit/Backup/BackupCommand.swift: var secretsTo: String?",
                "sealkit/Backup/MigrateStorageCommand.swift: var databasePasswordFile: String?",
                "sealkit/Backup/RestoreCommand.swift: var secrets: String?",
                "sealkit/Backup/ServerPlacesOptions.swift: var secrets: String?",
                "sealkit/Management/ManagementOptions.swift: var managementTokenFile: String?",
                "sealkit/Serve/ServeCommand.swift: var secrets: String?",
                "sealkit/Serve/ServeCommand.swift: var databasePasswordFile: String?",
                "sealkit/Serve/ServeCommand.swift: var smtpPasswordFile: String?",
                "sealkit/Serve/ServeCommand.swift: var smsTokenFile: String?",
                "sealkit/Share/ShareURLArgument.swift: var url: String?",
                "sealkit/Support/GlobalOptions.swift: var passphraseFile: String?",
            ])
    }

    @Test func `No secret is compared by ==`() throws {
        let names = [
            "token", "password", "passphrase", "secret", "seed", "mac", "codehash", "tokenhash", "addresshash",
            "challenge",
            "copybytes", "adr",
        ]
        let found = try SourceTests.lines { line in
            for comparison in [" == ", " != "] {
                guard let range = line.range(of: comparison) else { continue }
                let left = SourceTests.lastName(line[..<range.lowerBound]).lowercased()
                let right = SourceTests.firstName(line[range.upperBound...]).lowercased()
                if right != "nil", names.contains(left) || names.contains(right) { return true }
            }
            return false
        }
        #expect(found == [])
        #expect(!(SecretBytes.self is any Equatable.Type))
        for shown in try PrintingTests.core() where shown.type != "FieldDraft" {
            #expect(!(shown.value is any Equatable), "\(shown.type)")
        }
    }

    @Test func `No message or log line has a secret in it`() throws {
        let names = [
            "token", "password", "passphrase", "secret", "seed", "seeds", "code", "digits", "plaintext", "bytes", "url",
            "address", "recipient", "body", "recoverykey", "text",
        ]
        // The commands print what their user asked for.
        var found: Set<String> = []
        for line in try SourceTests.lines({ $0.contains("\\(") }) where !line.hasPrefix("sealkit/") {
            for part in line.split(separator: "\\(", omittingEmptySubsequences: false).dropFirst() {
                let name = SourceTests.lastName(part.prefix { $0 != ")" })
                if names.contains(name.lowercased()) { found.insert("\(line.prefix { $0 != ":" }) \(name)") }
            }
        }
        #expect(
            found == [
                "SealKit/Transport/HTTPTransport+Events.swift token",  // the header itself
                "SealKit/Transport/HTTPTransport.swift token",
                "SealPrimitives/Labels.swift text",  // a label's
                "SealServer/Backup/Backup.swift bytes",  // how many it needs
                "SealServer/Configuration/ConfigurationError.swift address",  // that it listens on
                "SealServer/Configuration/ListenFailure.swift address",  // that it cannot listen on
                "SealServer/Application/Server.swift address",  // that it listens on
                "SealServer/Configuration/MessageConfiguration.swift url",  // of the mail relay; the gateway's origin
                "SealServer/Application/StartReport.swift address",  // of the database, by its name
                "SealServer/Console/Console+Accounts.swift bytes",  // how many
                "SealServer/Console/Console+Charts.swift code",  // a refusal's
                "SealServer/Console/Console+Access.swift secret",  // a new token, on the page that shows it once
                "SealServer/Console/Console+SchemaEditing.swift text",  // a schema's
                "SealServer/Console/Console+Logs.swift code",  // a refusal's
                "SealServer/Console/Console+Overview.swift bytes",
                "SealServer/Console/Console+Record.swift text",  // a public record's, on its page
                "SealServer/Console/Console+Schema.swift text",  // the schema's
                "SealServer/Console/Console+Server.swift bytes",
                "SealServer/Console/Console+Server.swift code",  // of a limit's refusal
                "SealServer/Console/Console+Subscriptions.swift text",  // what came of a test, without the URL
                "SealServer/Console/ConsolePage.swift body",  // the page's markup
                "SealServer/Messages/SignedClient.swift token",  // the header itself
                "SealService/Messages/MailMessage.swift address",  // the mail's headers
                "SealServer/Messages/MailMessenger.swift address",  // its envelope
                "SealServer/Messages/MailMessenger.swift recipient",
                "SealService/Messages/Messenger.swift code",  // libcurl's
                "SealService/Operator/AccountOrders.swift bytes",  // how many
                "SealServer/Messages/RelayFailure.swift url",  // of the mail relay
                "SealServer/Application/StartReport.swift url",
                "SealServer/S3/S3Download.swift code",  // HTTP's
                "SealServer/S3/S3Failure.swift code",  // of the store's error
                "SealServer/Web/SharePageController.swift url",  // the operator's own, on a page
                "SealStorage/Files/PrivateFiles.swift code",  // errno
                "SealStorage/SQL/StorageError.swift code",  // SQLite's
                "SealStorage/Telemetry/TelemetryFile+Log.swift text",  // of a query, with marks for its values
            ])
    }

    /// What is printed past it can be lost without a word, and a recovery key with it.
    @Test func `The command prints by StandardStream alone`() throws {
        let ways = [
            "print(", "debugPrint(", "dump(", "fputs(", "fwrite(", "puts(", "FileHandle.standardOutput",
            "STDOUT_FILENO", "stdout",
        ]
        let found = try SecretTypes.swiftFiles(in: ["sealkit", "SealVectors"]).flatMap { file in
            file.text.split(separator: "\n").compactMap { line -> String? in
                let code = line.drop { $0 == " " }
                let isUsed = ways.contains { way in
                    code.ranges(of: way).contains { range in
                        // The whole name, and not the end of another one.
                        range.lowerBound == code.startIndex || !(code[code.index(before: range.lowerBound)].isLetter)
                    }
                }
                return isUsed && !code.hasPrefix("//") ? "\(file.name): \(code)" : nil
            }
        }
        #expect(
            found == [
                // Whether somebody looks at it.
                "sealkit/Record/RecordGet.swift: if isatty(STDOUT_FILENO) == 1 {",
                "sealkit/Support/StandardStream.swift: static let output = StandardStream(descriptor: STDOUT_FILENO)",
                "sealkit/Support/StandardStream.swift: for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {",
                "sealkit/Support/StandardStream.swift: _ = open(\"/dev/null\", number == STDOUT_FILENO ? O_RDONLY : O_WRONLY)",
            ])
    }

    private static func lastName(_ text: Substring) -> String {
        String(
            text.reversed().drop { "()!?".contains($0) }.prefix { $0.isLetter || $0.isNumber || $0 == "_" }.reversed())
    }

    /// The last part of the dotted name that a text begins with.
    private static func firstName(_ text: Substring) -> String {
        lastName(text.prefix { $0.isLetter || $0.isNumber || "._".contains($0) })
    }
}
