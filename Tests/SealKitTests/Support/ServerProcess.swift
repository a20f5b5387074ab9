import Foundation
import SealLab
import SealKit

/// A `sealkit serve` of its own, as a separate process on loopback, with a real SMTP server beside it.
final class ServerProcess: @unchecked Sendable {
    // Unchecked: started in the initialiser, then only read, and stopped once.
    let origin: String
    let folder: URL
    let mail: MailServer?
    private let process: Process

    var dataFolder: URL { folder.appendingPathComponent("data") }

    struct StartFailure: Error { let output: String }

    /// The command line that the tests are built with.
    static var executable: URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("sealkit")
    }

    init(folder given: URL? = nil, port: Int = 0, mail withMail: Bool = true, arguments: [String] = []) throws {
        folder = given ?? FileManager.default.temporaryDirectory.appendingPathComponent("sealkit-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        mail = withMail ? try MailServer(folder: folder.appendingPathComponent("mail")) : nil
        process = Process()
        process.executableURL = ServerProcess.executable
        process.arguments =
            ["serve", "--data", folder.appendingPathComponent("data").path, "--listen", "127.0.0.1:\(port)"]
            + (mail.map { ["--smtp-url", $0.url, "--smtp-from", "sealkit@example.org", "--smtp-starttls", "off"] } ?? []) + arguments
        let output = Pipe()
        let log = folder.appendingPathComponent("server.log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: log)
        process.standardInput = FileHandle.nullDevice
        try process.start()
        let text = output.readLine()
        guard let range = text.range(of: #"https?://[^\s]+"#, options: .regularExpression) else {
            process.waitUntilExit()
            mail?.stop()
            let failure = StartFailure(output: text + ((try? String(contentsOf: log, encoding: .utf8)) ?? ""))
            if given == nil { try? FileManager.default.removeItem(at: folder) }
            throw failure
        }
        origin = String(text[range])
    }

    var exitStatus: Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    func terminate() {
        process.terminate()
        process.waitUntilExit()
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The process stands still, connections and all, until `resume`.
    func pause() { Foundation.kill(process.processIdentifier, SIGSTOP) }
    func resume() { Foundation.kill(process.processIdentifier, SIGCONT) }

    func stop() {
        terminate()
        mail?.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// At the end of the test process, where Foundation's waiting no longer works.
    private func abandon() {
        Foundation.kill(process.processIdentifier, SIGTERM)
        mail?.abandon()
        try? FileManager.default.removeItem(at: folder)
        try? FileManager.default.removeItem(at: TemporaryAssets.folder)
    }

    /// One for all tests that do not need one of their own.
    static let shared = Result { try ServerProcess() }.map { server in
        atexit { ServerProcess.sharedToStop?.abandon() }
        ServerProcess.sharedToStop = server
        return server
    }
    nonisolated(unsafe) private static var sharedToStop: ServerProcess?
}

/// Debian's aiosmtpd on loopback: a real SMTP server that keeps mail in a folder.
final class MailServer: @unchecked Sendable {
    let url: String
    private let folder: URL
    private let process: Process

    init(folder: URL) throws {
        self.folder = folder
        let port = try MailServer.freePort()
        url = "smtp://127.0.0.1:\(port)"
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [
            "-m", "aiosmtpd", "-n", "-c", "aiosmtpd.handlers.Mailbox", folder.path, "-l", "127.0.0.1:\(port)",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
    }

    func stop() {
        abandon()
        process.waitUntilExit()
    }

    /// It takes no notice of SIGTERM.
    func abandon() { kill(process.processIdentifier, SIGKILL) }

    struct NoMail: Error {}

    /// The newest code sent to an address; waits for it.
    func code(for address: String) async throws -> String {
        for _ in 0..<300 {
            if let code = messages(to: address).last.flatMap(MailServer.code) { return code }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw NoMail()
    }

    func messages(to address: String) -> [String] {
        let new = folder.appendingPathComponent("new")
        let files = (try? FileManager.default.contentsOfDirectory(at: new, includingPropertiesForKeys: [.creationDateKey])) ?? []
        return files.sorted { modified($0) < modified($1) }
            .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
            .filter { $0.contains(address) }
    }

    private func modified(_ url: URL) -> Date {
        (try? FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date) ?? .distantPast
    }

    private static func code(_ message: String) -> String? {
        guard let body = message.range(of: "\n\n").map({ message[$0.upperBound...] }),
            let range = body.range(of: #"\b\d{4} ?\d{4}\b"#, options: .regularExpression)
        else { return nil }
        return body[range].filter(\.isNumber)
    }

    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0 }
        }
        guard bound else { throw NoMail() }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
