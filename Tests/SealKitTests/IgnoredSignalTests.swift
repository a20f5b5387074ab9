import Foundation
import SealLab
import SealSystem
import Testing

/// Whoever starts a program may want it to outlive the terminal.
@Suite(.timeLimit(.minutes(60))) struct IgnoredSignalTests {
    /// One that nothing else here has a handler for.
    @Test func theSystemIsAskedForIt() {
        let before = signal(SIGWINCH, SIG_IGN)
        defer { _ = signal(SIGWINCH, before) }
        #expect(isIgnored(signal: SIGWINCH))
        _ = signal(SIGWINCH, SIG_DFL)
        #expect(!isIgnored(signal: SIGWINCH))
    }

    @Test func aServerThatNohupStartedOutlivesItsTerminal() throws {
        let folder = SealLab.ServerProcess.temporaryFolder()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = folder.appendingPathComponent("started")
        try Data("#!/bin/sh\ntrap '' HUP\nexec '\(SealLab.ServerProcess.executable.path)' \"$@\"\n".utf8).write(
            to: script)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script.path)
        let server = try SealLab.ServerProcess(folder: folder, logLevel: "notice", executable: script)
        defer { server.remove() }
        try server.waitUntilListening()
        kill(server.identifier, SIGHUP)
        kill(server.identifier, SIGTERM)
        #expect(server.exitStatus == 0)
        #expect(server.log.contains("SIGTERM"), "\(server.log)")
        #expect(!server.log.contains("SIGHUP"), "\(server.log)")
    }
}
