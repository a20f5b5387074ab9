import Foundation
import Logging
import SealLab
import SealSystem
import Testing

@testable import SealServer

/// Certificates that are renewed while the server runs.
@Suite(.timeLimit(.minutes(60))) struct CertificateTests {
    let folder = TemporaryFolder()

    /// - Parameter days: from now on.
    private func make(
        _ name: String, for names: String = "IP:127.0.0.1", lasting days: String = "2"
    ) async throws -> ServerConfiguration.TLSFiles {
        let files = ServerConfiguration.TLSFiles(
            certificate: folder.file(name + ".pem"), key: folder.file(name + ".key"))
        let made = try await Command.finished(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", days,
                "-subj",
                "/CN=127.0.0.1", "-addext",
                "subjectAltName=\(names)", "-out", files.certificate, "-keyout", files.key,
            ])
        #expect(made.status == 0, "\(made.errors)")
        return files
    }

    /// In the place of what is there, in one step, as tools that renew certificates do.
    private func put(_ path: String, at place: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        try data.write(to: URL(fileURLWithPath: place), options: .atomic)
    }

    /// What curl ends with when it trusts this certificate alone: 0, or 60 for another one.
    private func answer(_ origin: String, trusting certificate: String) async throws -> Int32 {
        try await Command.finished(
            URL(fileURLWithPath: "/usr/bin/curl"), ["-s", "--cacert", certificate, origin + "/health"]
        ).status
    }

    @Test func aRenewedCertificateIsShownWithoutARestart() async throws {
        let (old, new) = (try await make("old"), try await make("new"))
        let used = ServerConfiguration.TLSFiles(certificate: folder.file("used.pem"), key: folder.file("used.key"))
        try put(old.certificate, at: used.certificate)
        try put(old.key, at: used.key)
        let log = LogCapture()
        let (addresses, continuation) = AsyncStream<ListenAddress>.makeStream()
        let server = try await SealServer.Server(
            configuration: ServerConfiguration(
                dataFolder: folder.file("data"), listen: ListenAddress(host: "127.0.0.1", port: 0),
                publicOrigin: "https://notes.example.org", tls: used),
            replacing: ServiceReplacements(logger: log.logger, certificateInterval: .milliseconds(20)),
            onRunning: { continuation.yield($0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            for await address in addresses {
                do {
                    let origin = "https://\(address)"
                    #expect(try await answer(origin, trusting: old.certificate) == 0)
                    #expect(try await answer(origin, trusting: new.certificate) == 60)
                    // Half of it: the new certificate's key has not come yet.
                    try put(new.certificate, at: used.certificate)
                    try await waitUntil("the half pair is refused") {
                        log.lines.contains { $0.contains("cannot be used") }
                    }
                    #expect(try await answer(origin, trusting: old.certificate) == 0)
                    try put(new.key, at: used.key)
                    try await waitUntil("the pair is read") { log.lines.contains { $0.contains("was read again") } }
                    #expect(try await answer(origin, trusting: new.certificate) == 0)
                    #expect(try await answer(origin, trusting: old.certificate) == 60)
                    // Rubbish changes nothing, and neither does a file that is away.
                    try Data("rubbish".utf8).write(to: URL(fileURLWithPath: used.certificate))
                    try FileManager.default.removeItem(atPath: used.key)
                    try await waitUntil("both are refused") {
                        log.lines.filter { $0.contains("cannot be used") }.count >= 2
                    }
                    #expect(try await answer(origin, trusting: new.certificate) == 0)
                } catch {
                    await server.shutDown()
                    throw error
                }
                break
            }
            await server.shutDown()
            try await group.waitForAll()
        }
        #expect(!log.lines.contains { $0.contains("PRIVATE KEY") })
    }

    @Test func aCertificateForOthersIsWarnedOf() async throws {
        let names = "DNS:notes.example.org,DNS:*.Cells.example.org,IP:127.0.0.1,IP:::1"
        let files = try await make("names", for: names)
        func warnings(_ host: String?) throws -> [String] {
            let log = LogCapture()
            let certificate = try ServerCertificate(files, host: host, clock: systemClock)
            certificate.warn(log.logger)
            certificate.renew(always: true, logger: log.logger)
            return log.lines.filter { $0.contains("not for the server's name") }
        }
        for host in [
            "notes.example.org", "NOTES.example.org", "one.cells.example.org", "127.0.0.1", "::1", "0:0:0:0:0:0:0:1",
            nil,
        ] {
            #expect(try warnings(host).isEmpty, "\(host ?? "none")")
        }
        for host in [
            "example.org", "other.notes.example.org", "cells.example.org", "a.b.cells.example.org", "127.0.0.2", "::2",
        ] {
            let found = try warnings(host)
            // At the start, and at the renewal.
            #expect(found.count == 2, "\(host)")
            #expect(
                found.allSatisfy {
                    $0.contains(host) && $0.contains("notes.example.org, *.cells.example.org, 127.0.0.1, ::1")
                })
        }
    }

    @Test func aCertificateThatHasExpiredOrIsNotValidYetIsToldOfOnce() async throws {
        let files = try await make("times", for: "DNS:notes.example.org")
        let clock = TestClock()
        let certificate = try ServerCertificate(files, host: "notes.example.org") { clock.now }
        let log = LogCapture()
        certificate.warn(log.logger)
        #expect(!log.lines.contains { $0.contains("clients refuse") })
        // It is told in the minute in which it happens, and not at each look.
        let expired = Int64(certificate.expires + 1) * 1_000_000
        clock.set(expired)
        for _ in 0..<3 { certificate.renew(logger: log.logger) }
        #expect(log.lines.filter { $0.contains("expired on 20") && $0.contains(files.certificate) }.count == 1)
        clock.set(1_000_000)
        for _ in 0..<3 { certificate.renew(logger: log.logger) }
        #expect(log.lines.filter { $0.contains("is not valid before 20") }.count == 1)
        // A server that is started with such a one says so as well.
        let late = try ServerCertificate(files, host: nil) { expired }
        let start = LogCapture()
        late.warn(start.logger)
        #expect(start.lines.contains { $0.contains("expired on 20") })
    }

    /// A server that has a good one does not take one that cuts everybody off.
    @Test func aRenewalForAnotherNameIsNotTaken() async throws {
        let (files, others) = (
            try await make("good", for: "DNS:notes.example.org"), try await make("bad", for: "DNS:other.example.org")
        )
        let certificate = try ServerCertificate(files, host: "notes.example.org", clock: systemClock)
        for (from, to) in [(others.certificate, files.certificate), (others.key, files.key)] {
            try Data(contentsOf: URL(fileURLWithPath: from)).write(to: URL(fileURLWithPath: to))
        }
        let log = LogCapture()
        certificate.renew(always: true, logger: log.logger)
        #expect(log.lines.contains { $0.contains("stays in use") && $0.contains("other.example.org") }, "\(log.lines)")
        certificate.warn(log.logger)
        #expect(!log.lines.contains { $0.contains("refuse the server") }, "it still shows the good one")
        // One that began with the wrong name takes any.
        let wrong = try ServerCertificate(files, host: "notes.example.org", clock: systemClock)
        wrong.renew(always: true, logger: log.logger)
        #expect(log.lines.contains { $0.contains("was read again") })
        #expect(log.lines.contains { $0.contains("refuse the server") })
    }

    @Test func aRenewalThatHasExpiredIsNotTaken() async throws {
        let clock = TestClock()
        clock.set(systemClock())
        let (files, next) = (try await make("long", lasting: "4"), try await make("short", lasting: "2"))
        let certificate = try ServerCertificate(files, host: nil) { clock.now }
        let until = certificate.expires
        try put(next.certificate, at: files.certificate)
        try put(next.key, at: files.key)
        clock.set(systemClock() + 3 * 86_400_000_000)
        let log = LogCapture()
        for _ in 0..<3 { certificate.renew(logger: log.logger) }
        #expect(certificate.expires == until)
        #expect(log.lines.filter { $0.contains("stays in use") && $0.contains(files.certificate) }.count == 1)
        // One that has expired itself takes whatever comes.
        clock.set(systemClock() + 5 * 86_400_000_000)
        certificate.renew(always: true, logger: log.logger)
        #expect(certificate.expires != until)
    }

    /// By a clock that is behind, say.
    @Test func aRenewalThatIsNotValidYetIsTakenOnceItIs() async throws {
        let clock = TestClock()
        let files = try await make("early")
        clock.set(systemClock())
        // Certificates begin with a second.
        try await Task.sleep(for: .milliseconds(1_100))
        let next = try await make("later", lasting: "6")
        let certificate = try ServerCertificate(files, host: nil) { clock.now }
        let until = certificate.expires
        try put(next.certificate, at: files.certificate)
        try put(next.key, at: files.key)
        let log = LogCapture()
        for _ in 0..<3 { certificate.renew(logger: log.logger) }
        #expect(certificate.expires == until)
        #expect(log.lines.filter { $0.contains("stays in use") && $0.contains(files.certificate) }.count == 1)
        clock.set(systemClock() + 1_000_000)
        certificate.renew(logger: log.logger)
        #expect(certificate.expires > until)
    }

    /// By other rights, say, which show neither in the file's size nor in its time.
    @Test func aRenewalThatCouldNotBeReadIsReadOnceItCan() async throws {
        let (used, next) = (try await make("used"), try await make("next", lasting: "6"))
        let certificate = try ServerCertificate(used, host: nil, clock: systemClock)
        let until = certificate.expires
        let key = try Data(contentsOf: URL(fileURLWithPath: next.key))
        /// In the place of what is there, and of one time.
        func write(_ data: Data, to path: String) throws {
            try data.write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: path)
        }
        try write(try Data(contentsOf: URL(fileURLWithPath: next.certificate)), to: used.certificate)
        try write(Data(repeating: 0x2E, count: key.count), to: used.key)
        let log = LogCapture()
        for _ in 0..<3 { certificate.renew(logger: log.logger) }
        #expect(certificate.expires == until)
        #expect(log.lines.filter { $0.contains("cannot be used") }.count == 1)
        try write(key, to: used.key)
        certificate.renew(logger: log.logger)
        #expect(log.lines.contains { $0.contains("was read again") })
        #expect(certificate.expires > until)
        for _ in 0..<3 { certificate.renew(logger: log.logger) }
        #expect(log.lines.filter { $0.contains("was read again") }.count == 1)
    }

    @Test func aPairThatDoesNotBelongTogetherIsRefusedAtTheStart() async throws {
        let (one, other) = (try await make("one"), try await make("other"))
        let mixed = ServerConfiguration.TLSFiles(certificate: one.certificate, key: other.key)
        let swapped = ServerConfiguration.TLSFiles(certificate: one.key, key: one.certificate)
        for (files, expected) in [
            (mixed, ConfigurationError.tlsMismatch(certificate: mixed.certificate, key: mixed.key)),
            (swapped, .tlsFile(path: swapped.certificate)),
        ] {
            await #expect(throws: expected) {
                try await SealServer.Server(
                    configuration: ServerConfiguration(
                        dataFolder: folder.file("never"), publicOrigin: "https://notes.example.org", tls: files))
            }
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("never")))
    }
}
