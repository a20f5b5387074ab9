public import Foundation

/// Debian's aiosmtpd on loopback: a real SMTP server that keeps mail in a folder.
public final class MailServer: @unchecked Sendable {
    // Unchecked: started in the initialiser, then only read, and stopped once.
    public let url: String
    private let port: Int
    private let folder: URL
    private let process: Process

    /// Starts it and returns before it listens: who sends mail tries again.
    /// - Parameter folder: where the mail goes; made by the server.
    public init(folder: URL) throws {
        self.folder = folder
        port = try MailServer.freePort()
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

    public func waitUntilListening() async throws {
        for _ in 0..<1_200 {
            if (try? HTTPConnection(port: port)) != nil { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw NoMail()
    }

    public func stop() {
        abandon()
        process.waitUntilExit()
    }

    /// It stands still: connections are made, and nothing is said on them, until `resume`.
    public func pause() { kill(process.processIdentifier, SIGSTOP) }
    public func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Ends it without waiting for its end. It takes no notice of SIGTERM.
    public func abandon() { kill(process.processIdentifier, SIGKILL) }

    /// No mail came, or the server did not start.
    public struct NoMail: Error {
        public init() {}
    }

    /// The newest code sent to an address; waits for it.
    public func code(for address: String) async throws -> String {
        for _ in 0..<1_200 {
            if let code = messages(to: address).last.flatMap(MailServer.code) { return code }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw NoMail()
    }

    /// All that was sent to an address, oldest first.
    public func messages(to address: String) -> [String] {
        let new = folder.appendingPathComponent("new")
        let files =
            (try? FileManager.default.contentsOfDirectory(at: new, includingPropertiesForKeys: [.creationDateKey]))
            ?? []
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

    /// A port on loopback that nobody listens at now.
    public static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard bound else { throw NoMail() }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
