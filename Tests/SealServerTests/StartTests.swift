import Foundation
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// What the log says of a server's life, and what a start that fails leaves behind.
@Suite(.timeLimit(.minutes(60))) struct StartTests {
    @Test func theLogSaysWhatStartsAndWhyItStops() async throws {
        let log = LogCapture()
        let folder = TemporaryFolder()
        let mail = MailConfiguration(
            url: "smtp://127.0.0.1:1", from: "codes@example.org", username: "codes", password: "canary-word",
            startTLS: .off, check: .off)
        try await RunningServer.with(
            sendsMail: false, mailConfiguration: mail, publicOrigin: "https://notes.example.org", folder: folder,
            logger: log.logger
        ) { _ in }
        let start = try #require(log.lines.first { $0.contains("SealKit starts") })
        for part in [
            ServerVersion.current, folder.file("data"), "https://notes.example.org",
            "smtp://127.0.0.1:1 as codes@example.org",
            "phones get no codes", "\"storageQuota\": 10737418240", "\"recordsPerZone\": none", "\"requestRate\": 1000",
        ] {
            #expect(start.contains(part), "\(part) is not in \(start)")
        }
        #expect(log.lines.contains { $0.contains("the server listens") && $0.contains("127.0.0.1:") })
        #expect(log.lines.contains { $0.contains("the server stops") && $0.contains("its program asked it to") })
        #expect(log.lines.contains { $0.contains("the server has stopped") })
        #expect(!log.lines.contains { $0.contains("canary") })
    }

    @Test func anAddressThatIsTakenLeavesNoFolder() async throws {
        try await RunningServer.with { running in
            let port = try #require(URL(string: running.origin)?.port)
            let folder = running.folder.file("other")
            await #expect(throws: ListenFailure.self) {
                try await SealServer.Server(
                    configuration: ServerConfiguration(
                        dataFolder: folder, listen: ListenAddress(host: "127.0.0.1", port: port), logLevel: .critical))
            }
            for path in [folder, folder + ".secrets"] { #expect(!FileManager.default.fileExists(atPath: path)) }
        }
    }

    @Test func aRelayThatIsRequiredHasToBeThere() async throws {
        let folder = TemporaryFolder()
        let mail = MailConfiguration(
            url: "smtp://127.0.0.1:1", from: "codes@example.org", startTLS: .off, check: .required)
        do {
            _ = try await SealServer.Server(
                configuration: ServerConfiguration(
                    dataFolder: folder.file("never"), listen: ListenAddress(host: "127.0.0.1", port: 0), mail: mail,
                    logLevel: .critical))
            Issue.record("it starts without its relay")
        } catch let error as RelayFailure {
            #expect(error.description.contains("smtp://127.0.0.1:1"), "\(error)")
            #expect(error.description.contains("--smtp-check warn"), "\(error)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("never")))
    }

    @Test func theLimitsSayHowCodesGoOut() async throws {
        for (mail, texts, expected) in [(true, false, ["mail"]), (true, true, ["mail", "text"]), (false, false, [])] {
            try await RunningServer.with(sendsMail: mail, sendsTexts: texts) { server in
                let answer = try await TestClient(server).call("/1/limits", nil, as: Sealkit_V1_LimitsResponse.self)
                #expect(answer.codes == expected)
                #expect(answer.origin == server.origin)
            }
        }
    }
}
