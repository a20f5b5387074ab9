import Foundation
import SealLab

/// What a program does to make files durable, as the system is asked for it (strace): a crash that a test could make
/// leaves what was written in the system's memory, where a power cut would not.
struct SystemCalls {
    /// Whether strace is installed, and may watch.
    static func canBeWatched() async -> Bool { await watching.value }

    private static let watching = Task {
        (try? await Command.finished(strace, ["-o", "/dev/null", "/bin/true"]))?.status == 0
    }

    private static let strace = URL(fileURLWithPath: "/usr/bin/strace")
    private let log: URL

    init(in folder: URL) { log = folder.appendingPathComponent("calls-\(UUID().uuidString)") }

    private var options: [String] {
        [
            "-f", "-q", "-y", "-s", "4096", "--seccomp-bpf", "-e",
            "trace=fsync,fdatasync,link,linkat,rename,renameat,renameat2",
            "-o", log.path,
        ]
    }

    func run(_ arguments: [String]) async throws -> Command {
        try await Command.finished(SystemCalls.strace, options + [ServerProcess.executable.path] + arguments)
    }

    /// A program that runs `sealkit`, is its process, and is watched from outside.
    func program(in folder: URL) throws -> URL {
        let script = folder.appendingPathComponent("watched")
        let words = ([SystemCalls.strace.path, "-D"] + options + [ServerProcess.executable.path]).map { "'\($0)'" }
        try Data("#!/bin/sh\nexec \(words.joined(separator: " ")) \"$@\"\n".utf8).write(to: script)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script.path)
        return script
    }

    /// Waits until a process that has ended is seen to have ended: what watches it writes a little later.
    func end(of process: Int32) async throws {
        let end = "\(process) +++ exited"
        while try !String(contentsOf: log, encoding: .utf8).split(separator: "\n").contains(where: { line in
            line.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ").hasPrefix(end)
        }) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The calls on paths that are named, in the order in which they began: `sync <path>`, `name <path>`.
    func all(below folder: URL) throws -> [String] {
        let root = folder.resolvingSymlinksInPath().path + "/"
        return try String(contentsOf: log, encoding: .utf8).split(separator: "\n").compactMap { line in
            guard let call = line.firstMatch(of: /^\d+ +(\w+)\((.*)/) else { return nil }
            let rest = String(call.2)
            let path: Substring?
            switch call.1 {
            case "fsync", "fdatasync": path = rest.firstMatch(of: /<([^>]*)>/)?.1
            // The name that it gets comes last.
            default: path = rest.matches(of: /"([^"]*)"/).last?.1
            }
            guard let path else { return nil }
            let kind = call.1.hasSuffix("sync") ? "sync" : "name"
            if "\(path)/" == root { return "\(kind) ." }
            return path.hasPrefix(root) ? "\(kind) \(path.dropFirst(root.count))" : nil
        }
    }
}
