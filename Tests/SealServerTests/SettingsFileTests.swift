import Foundation
import Testing

@testable import SealServer
@testable import SealService

/// A settings file says what it says, or it is refused with the line that is wrong.
@Suite(.timeLimit(.minutes(60))) struct SettingsFileTests {
    let folder = TemporaryFolder()

    private func load(
        _ text: String, as name: String = "sealkit.yaml", flags: [String: String] = [:]
    ) async throws -> ServerConfiguration {
        let file = folder.file(name)
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return try await ServerConfiguration.load(
            flags: flags.merging(["data": "/d"]) { $1 }, environment: [:], file: file)
    }

    private func refusal(_ text: String, as name: String = "sealkit.yaml") async throws -> ConfigurationError? {
        do {
            _ = try await load(text, as: name)
            return nil
        } catch let error as ConfigurationError {
            return error
        }
    }

    @Test func whatIsNoSettingIsRefusedByNameAndLine() async throws {
        let path = folder.file("sealkit.yaml")
        for (text, name, line, meant) in [
            ("listen: 127.0.0.1:1\n\nlisten-on: x\n", "listen-on", 3, "listen"),
            ("lisen: 127.0.0.1:1", "lisen", 1, "listen"),
            // As the flag, or the environment, spells it.
            ("tls-key: k.pem", "tls-key", 1, "tls.key"),
            ("max_message_size: 5000", "max_message_size", 1, "max.message.size"),
            ("smtp:\n  url: smtps://mail.example.org\n  passwort: canary\n", "smtp.passwort", 3, "smtp.password"),
            ("smtp:\n  starttls:\n    mode: off\n", "smtp.starttls.mode", 2, nil),
            ("smtp: smtps://mail.example.org", "smtp", 1, nil),
            ("# first\nserver: {}\n", "server", 2, nil),
            ("tls.certificates: a", "tls.certificates", 1, "tls.certificate"),
        ] as [(String, String, Int, String?)] {
            let error = try await refusal(text)
            #expect(error == .unknownSetting(name: name, path: path, line: line, meant: meant), "\(text)")
            let words = error?.description ?? ""
            #expect(words.contains("line \(line)"), "\(words)")
            #expect(words.contains("“\(name)”"), "\(words)")
            #expect(!words.contains("canary"), "\(words)")
        }
        let json = try await refusal(
            "{\n  \"behind\": {\"proxy\": false},\n\t\"lisen\": \"127.0.0.1:1\"\n}", as: "sealkit.json")
        #expect(json == .unknownSetting(name: "lisen", path: folder.file("sealkit.json"), line: 3, meant: "listen"))
    }

    @Test func aSettingIsThereOnce() async throws {
        let path = folder.file("sealkit.yaml")
        #expect(
            try await refusal("tls.key: a\ntls:\n  key: b\n") == .repeatedSetting(name: "tls.key", path: path, line: 3))
        for (text, name, line) in [
            ("listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", "listen", 2),
            ("listen: 127.0.0.1:1\nlisten: 127.0.0.1:1\nlisten: 127.0.0.1:1\n", "listen", 2),
            ("# first\ntls:\n  certificate: a\n  key: b\n\n  key: canary\nlisten: 127.0.0.1:1\n", "tls.key", 6),
            ("tls.key: a\nlisten: 127.0.0.1:1\n\"tls.key\": b\n", "tls.key", 3),
            ("{\n  \"listen\": \"127.0.0.1:1\",\n  \"data\": \"/d\",\n  \"listen\": \"127.0.0.1:2\"\n}", "listen", 4),
        ] {
            let error = try await refusal(text)
            #expect(error == .repeatedSetting(name: name, path: path, line: line), "\(text)")
            #expect(error?.description.contains("canary") == false)
        }
    }

    @Test func aListIsNoValueOfASettingThatHasOne() async throws {
        let path = folder.file("sealkit.yaml")
        #expect(
            try await refusal("registration: open\nlisten: [\"127.0.0.1:1\", \"127.0.0.1:2\"]")
                == .invalidInFile(setting: "listen", expected: "one value, and no list", path: path, line: 2))
    }

    @Test func whatIsNoYAMLIsRefusedWithoutSayingWhatStandsThere() async throws {
        let path = folder.file("sealkit.yaml")
        let broken = try await refusal("listen: 127.0.0.1:1\nsmtp: {password: \"canary\n")
        guard case .unreadableFile(path, let line?) = broken else {
            Issue.record("\(broken.map { "\($0)" } ?? "it was taken")")
            return
        }
        #expect(line >= 2)
        #expect(broken?.description.contains("canary") == false)
        #expect(try await refusal("- listen") == .unreadableFile(path: path, line: 1))
        try Data([0xFF, 0xFE, 0x00]).write(to: URL(fileURLWithPath: path))
        await #expect(throws: ConfigurationError.unreadableFile(path: path, line: nil)) {
            try await ServerConfiguration.load(flags: ["data": "/d"], environment: [:], file: path)
        }
    }

    @Test func aFileThatIsNotThereIsCalledMissing() async throws {
        let path = folder.file("none.yaml")
        let missing = ConfigurationError.missingFile(setting: "config", path: path)
        await #expect(throws: missing) {
            try await ServerConfiguration.load(flags: ["data": "/d"], environment: [:], file: path)
        }
        #expect(missing.description == "There is no file \(path), which --config names.")
        // So are those that settings name.
        let mail = MailConfiguration(url: "smtps://mail.example.org", from: "a@example.org", authorityFile: path)
        await #expect(throws: ConfigurationError.missingFile(setting: "smtp-ca-file", path: path)) {
            try await SealServer.Server(
                configuration: ServerConfiguration(dataFolder: folder.file("never"), mail: mail))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("never")))
    }

    @Test func aFileThatThisUserMayNotReachIsNotCalledMissing() async throws {
        // Nobody gets to the end of a link to itself, whatever their rights.
        let path = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        let reason = "Too many levels of symbolic links"
        await #expect(throws: ConfigurationError.closedFile(setting: "config", path: path, reason: reason)) {
            try await ServerConfiguration.load(flags: ["data": "/d"], environment: [:], file: path)
        }
        let mail = MailConfiguration(url: "smtps://mail.example.org", from: "a@example.org", authorityFile: path)
        await #expect(throws: ConfigurationError.closedFile(setting: "smtp-ca-file", path: path, reason: reason)) {
            try await SealServer.Server(
                configuration: ServerConfiguration(dataFolder: folder.file("never"), mail: mail))
        }
        let files = ServerConfiguration.TLSFiles(certificate: path, key: path)
        await #expect(throws: ConfigurationError.closedFile(setting: "tls-certificate", path: path, reason: reason)) {
            try await SealServer.Server(
                configuration: ServerConfiguration(
                    dataFolder: folder.file("never"), publicOrigin: "https://notes.example.org", tls: files))
        }
        // What lies below a file is not there.
        try Data().write(to: URL(fileURLWithPath: folder.file("plain")))
        await #expect(throws: ConfigurationError.missingFile(setting: "config", path: folder.file("plain/s.yaml"))) {
            try await ServerConfiguration.load(
                flags: ["data": "/d"], environment: [:], file: folder.file("plain/s.yaml"))
        }
    }

    @Test func everySpellingOfAFileIsRead() async throws {
        #expect(try await load("# nothing\n").listen == ServerConfiguration.defaultListen)
        #expect(try await load("").listen == ServerConfiguration.defaultListen)
        // A part whose settings are all commented out.
        #expect(try await load("smtp:\n#  url: x\nlisten: 127.0.0.1:7\n").listen.port == 7)
        #expect(
            try await load("webhook: {allow: [\"https://a.example\", \"https://b.example\"]}").webhookOrigins == [
                "https://a.example", "https://b.example",
            ])
        #expect(try await load("shutdown.grace: 5\nregistration: closed").shutdownGrace == 5)
        #expect(
            try await load(#"{"storage": {"quota": 12345}, "registration": "invite"}"#, as: "s.json").limits
                .storageQuota == 12345)
    }

    /// A value is refused where it stands, with its unit; one that is given otherwise, by its setting.
    @Test func aValueThatCannotBeIsRefusedByItsLine() async throws {
        func message(_ text: String, flags: [String: String] = [:]) async throws -> String {
            do {
                _ = try await load(text, flags: flags)
                return "loaded"
            } catch let error as ConfigurationError {
                return error.description
            }
        }
        let inFile = try await message("# one\nshutdown:\n  grace: soon\n")
        #expect(inFile.hasSuffix("line 3: shutdown.grace must be a number of seconds, from 1 to 3600."))
        let judged = try await message("\norigin: https://notes.example.org/path")
        #expect(judged.contains("line 2: origin must be an origin"))
        let flag = try await message("shutdown.grace: 5", flags: ["shutdown-grace": "soon"])
        #expect(flag == "The setting “shutdown.grace” (--shutdown-grace) must be a number of seconds, from 1 to 3600.")
        let mistyped = try await message("storage: {quotta: 5}")
        #expect(mistyped.contains("there is no setting “storage.quotta”. Write storage.quota."))
        let strange = try await message("nothing.like: 5")
        #expect(strange.contains("sealkit help serve lists them"))
    }
}
