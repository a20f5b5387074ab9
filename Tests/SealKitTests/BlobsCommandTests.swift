import Foundation
import SealLab
import Testing

@testable import SealKit

/// `sealkit serve` with its assets in an S3 store, what it refuses at its start, and what the commands for files say.
@Suite(
    .enabled("Tests/Support/s3 runs one beside a command") {
        ProcessInfo.processInfo.environment["SEALKIT_TEST_S3"] != nil
    }, .timeLimit(.minutes(60)))
struct BlobsCommandTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let secret = environment["AWS_SECRET_ACCESS_KEY"] ?? ""

    /// Of its own.
    private static func place() -> String {
        (environment["SEALKIT_TEST_S3"] ?? "").replacing(
            "?", with: "/\(UUID().uuidString.lowercased())?", maxReplacements: 1)
    }

    private static func credentials(_ folder: URL, accessKey: String = "sealkit", secretKey: String = secret) throws
        -> String
    {
        let file = folder.appendingPathComponent("credentials-\(accessKey)-\(secretKey.count)")
        try Data("aws_access_key_id = \(accessKey)\naws_secret_access_key = \(secretKey)\n".utf8).write(to: file)
        return file.path
    }

    private static func sealkit(_ words: [String]) async throws -> Command {
        // What a file says, and nothing else.
        try await Command.finished(
            ServerProcess.executable, words, environment: ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""])
    }

    @Test func aServerHasItsAssetsThere() async throws {
        let folder = ServerProcess.temporaryFolder()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let flags = ["--blobs", Self.place(), "--s3-credentials", try Self.credentials(folder)]
        let server = try ServerProcess(folder: folder, mail: false, arguments: flags)
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        for bytes in [200_000, 20_000_000] {
            _ = try await ann.saveFile("file-\(bytes)", in: zone, bytes: bytes, folder: folder)
            #expect(try await ann.hasFile("file-\(bytes)", in: zone, bytes: bytes))
        }
        let line = try String(contentsOfFile: "/proc/\(server.identifier)/cmdline", encoding: .utf8)
        let data = server.dataFolder.path
        #expect(!FileManager.default.fileExists(atPath: data + "/blobs"))

        let (backups, name) = (folder.appendingPathComponent("backups").path, "s3://sealkit-test/")
        let backup = try await Self.sealkit(["backup", "--data", data, "--to", backups])
        #expect(backup.status == 65 && backup.errors.contains(name), "\(backup.errors)")
        let copies = try FileManager.default.subpathsOfDirectory(atPath: backups).filter { $0.contains("sqlite") }
        #expect(copies == [])
        server.terminate()
        let log = server.log
        for text in [log, line, backup.errors] { #expect(!text.contains(Self.secret)) }
        #expect(log.contains(name))
        let check = try await Self.sealkit(["check", "--data", data])
        #expect(check.status == 0 && check.errors.contains(name), "\(check.errors)")

        let serve = ["serve", "--data", data, "--listen", "127.0.0.1:0"]
        let without = try await Self.sealkit(serve)
        #expect(without.status == 65 && without.errors.contains(name), "\(without.errors)")
        let other = folder.appendingPathComponent("other").path
        let taken = try await Self.sealkit(["serve", "--data", other, "--listen", "127.0.0.1:0"] + flags)
        #expect(taken.status == 65 && taken.errors.contains("another database"), "\(taken.errors)")
        try? FileManager.default.removeItem(at: folder)
    }

    @Test func whatCannotStartSaysWhy() async throws {
        let folder = ServerProcess.temporaryFolder()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let good = try Self.credentials(folder)
        func serve(_ blobs: String, _ file: String) async throws -> Command {
            try await Self.sealkit([
                "serve", "--data", folder.appendingPathComponent(UUID().uuidString).path, "--listen", "127.0.0.1:0",
                "--log-level", "error", "--blobs", blobs, "--s3-credentials", file,
            ])
        }
        let place = Self.place()
        let bucket = place.replacing("sealkit-test", with: "not-there")
        let away = "s3://sealkit-test?endpoint=http://127.0.0.1:1"
        for (blobs, file, status, part) in [
            (place, try Self.credentials(folder, secretKey: "hidden-word"), 65, "SignatureDoesNotMatch"),
            (place, try Self.credentials(folder, accessKey: "nobody"), 65, "InvalidAccessKeyId"),
            (place, try Self.credentials(folder, accessKey: "reader"), 65, "AccessDenied"),
            (bucket, good, 65, "NoSuchBucket"), (away, good, 69, "does not answer"),
            (place, folder.appendingPathComponent("none").path, 65, "--s3-credentials"),
            ("s3://sealkit-test?endpoint=http://s3.example.org", good, 65, "https://"),
            ("s3://u:hidden-word@sealkit-test", good, 65, "--blobs"),
        ] {
            let said = try await serve(blobs, file)
            #expect(said.status == status && said.errors.contains(part), "\(part): \(said.status) \(said.errors)")
            #expect(!said.errors.contains("hidden-word") && !said.errors.contains(Self.secret))
        }
        try? FileManager.default.removeItem(at: folder)
    }
}
