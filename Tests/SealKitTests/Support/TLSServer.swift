import Foundation
import SealLab

/// Answers over TLS with a certificate of an authority that no system knows (Support/tls-server.py).
final class TLSServer: @unchecked Sendable {
    // Unchecked: the process is started by the initialiser, and ended once.
    let port: Int
    /// The PEM file of its authority.
    let authority: String
    private let folder: TemporaryFolder
    private let process = Process()

    struct NoCertificate: Error {
        let said: String
    }

    /// Python has said this in the place of its port.
    struct NoServer: Error {
        let said: String
    }

    /// - Parameters:
    ///   - name: that the certificate is for, as openssl writes alternative names.
    ///   - days: that it is good for; negative for one that has expired.
    ///   - isCut: it answers nothing, and ends each connection once a request came.
    ///   - status: it speaks HTTP/2, and this is all that it answers.
    init(name: String = "IP:127.0.0.1", days: Int = 2, isCut: Bool = false, status: String? = nil) async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }
        func openssl(_ arguments: String...) async throws {
            let said = try await Command.finished(URL(fileURLWithPath: "/usr/bin/openssl"), arguments)
            guard said.status == 0 else { throw NoCertificate(said: said.errors) }
        }
        authority = path("authority.pem")
        try await openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=Test authority", "-keyout", path("authority.key"),
            "-out", authority)
        try await openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=server", "-keyout",
            path("key.pem"), "-out", path("request.pem"))
        try Data("subjectAltName=\(name)\n".utf8).write(to: folder.url.appendingPathComponent("names"))
        try await openssl(
            "x509", "-req", "-in", path("request.pem"), "-CA", authority, "-CAkey", path("authority.key"),
            "-CAcreateserial", "-days",
            "\(days)", "-extfile", path("names"), "-out", path("certificate.pem"))
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Support/tls-server.py")
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        let how = status.map { "status=\($0)" } ?? (isCut ? "cut" : "answer")
        process.arguments = ["-B", script.path, path("certificate.pem"), path("key.pem"), how]
        (process.standardInput, process.standardOutput, process.standardError) = (
            FileHandle.nullDevice, output, FileHandle.nullDevice
        )
        try process.start()
        let said = await output.line().trimmingCharacters(in: .whitespacesAndNewlines)
        guard let port = Int(said) else {
            kill(process.processIdentifier, SIGKILL)
            throw NoServer(said: said)
        }
        self.port = port
    }

    var origin: String { "https://127.0.0.1:\(port)" }

    deinit { kill(process.processIdentifier, SIGKILL) }
}
