import Foundation
import SealLab

@testable import SealKit

/// A `sealkit serve` of its own that listens, as a separate process on loopback, with a real SMTP server beside it.
final class ServerProcess: SealLab.ServerProcess, @unchecked Sendable {
    let mail: MailServer?

    init(folder given: URL? = nil, port: Int = 0, mail withMail: Bool = true, arguments: [String] = []) throws {
        let folder = given ?? SealLab.ServerProcess.temporaryFolder()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let mail = withMail ? try MailServer(folder: folder.appendingPathComponent("mail")) : nil
        self.mail = mail
        do {
            let smtp =
                mail.map { ["--smtp-url", $0.url, "--smtp-from", "sealkit@example.org", "--smtp-starttls", "off"] }
                ?? []
            try super.init(folder: folder, port: port, logLevel: "info", arguments: smtp + arguments)
            try waitUntilListening()
        } catch {
            mail?.stop()
            if given == nil { try? FileManager.default.removeItem(at: folder) }
            throw error
        }
    }

    /// Ends it and the mail server, and removes the folder.
    func stop() {
        mail?.stop()
        remove()
    }

    /// Of a suite, say, whose tests have no common end to stop it at.
    deinit {
        guard isRunning else { return }
        kill()
        stop()
    }

    /// At the end of the test process, where Foundation's waiting no longer works.
    private func abandon() {
        Foundation.kill(identifier, SIGTERM)
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

extension ServerProcess {
    /// Every byte that lies in the server's folder: database, journal, blobs, secrets, log and the mail that it sent.
    var everything: Data {
        var all = Data()
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        while let url = files?.nextObject() as? URL {
            guard (try? url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true else { continue }
            all += (try? Data(contentsOf: url)) ?? Data()
        }
        return all
    }
}
