public import Foundation

/// A `sealkit serve` beside this program, on loopback, with a data folder that outlives it.
open class ServerProcess: @unchecked Sendable {
    // Unchecked: the process is started by the initialiser; its methods are called by one task.
    /// Below it: `data`, `data.secrets` and the server's log, `server.log`.
    public let folder: URL
    public private(set) var origin = ""
    private let process = Process()
    private let output = Pipe()

    public struct StartFailure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The command that was built together with the running program.
    public static var executable: URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("sealkit")
    }

    /// Starts a server and returns before it listens: see `waitUntilListening()`.
    /// - Parameters:
    ///   - folder: made if need be; to be removed by the caller.
    ///   - port: 0 lets the system choose.
    ///   - logLevel: of the server's log.
    ///   - executable: `sealkit`, or a program that ends its own options with `serve` ones.
    public init(
        folder: URL, port: Int = 0, logLevel: String = "error", arguments: [String] = [],
        executable: URL = ServerProcess.executable
    ) throws {
        self.folder = folder
        guard FileManager.default.isExecutableFile(atPath: executable.path) else {
            throw StartFailure(
                description: "there is no \(executable.lastPathComponent) beside this program: run `swift build` first")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let log = folder.appendingPathComponent("server.log")
        if !FileManager.default.fileExists(atPath: log.path) {
            _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        }
        let handle = try FileHandle(forWritingTo: log)
        try handle.seekToEnd()
        process.executableURL = executable
        var settings = ["--data", dataFolder.path, "--listen", "127.0.0.1:\(port)", "--log-level", logLevel]
        #if DEBUG
            // Without optimisation, on a machine that is busy, honest requests may take long.
            settings += ["--write-budget", "60"]
        #endif
        // Those that have one of their own choice.
        if !arguments.contains("--database-url") { settings += try LabDatabase.settings(of: folder) }
        process.arguments = ["serve"] + settings + arguments
        process.standardOutput = output
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.start()
    }

    /// A server in a temporary folder of its own that listens already.
    public static func temporary(arguments: [String] = []) throws -> ServerProcess {
        let server = try ServerProcess(folder: temporaryFolder(), arguments: arguments)
        try server.waitUntilListening()
        return server
    }

    /// Of a server whose load is measured, not what one account may do.
    public static let withoutRates = ["request", "write", "read", "sharing", "anonymous"].flatMap {
        ["--\($0)-rate", "0"]
    }

    /// A path that nothing is at yet.
    public static func temporaryFolder() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("sealkit-lab-\(UUID().uuidString)")
    }

    public var dataFolder: URL { folder.appendingPathComponent("data") }
    public var log: String {
        (try? String(contentsOf: folder.appendingPathComponent("server.log"), encoding: .utf8)) ?? ""
    }
    public var identifier: Int32 { process.processIdentifier }
    public var isRunning: Bool { process.isRunning }
    public var port: Int { URL(string: origin)?.port ?? 0 }

    public func waitUntilListening() throws {
        let text = output.readLine()
        guard let range = text.range(of: #"https?://[^\s]+"#, options: .regularExpression) else {
            process.waitUntilExit()
            throw StartFailure(description: "the server did not start: \(log.suffix(2000))")
        }
        origin = String(text[range])
    }

    /// SIGKILL: nothing is finished, flushed or closed.
    public func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// SIGTERM, and waits.
    public func terminate() {
        process.terminate()
        process.waitUntilExit()
    }

    /// Waits for its end.
    public var exitStatus: Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// The process stands still, connections and all, until `resume`.
    public func pause() { Foundation.kill(process.processIdentifier, SIGSTOP) }
    public func resume() { Foundation.kill(process.processIdentifier, SIGCONT) }

    /// Ends it and removes its folder.
    public func remove() {
        terminate()
        LabDatabase.remove(of: folder)
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: What it holds

    /// File descriptors that the server has open.
    public var openFiles: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count) ?? 0
    }

    /// The far ends of the connections that the server holds, as `HTTPConnection.localEnd` has them.
    public var clientEnds: Set<String> {
        let table = (try? String(contentsOfFile: "/proc/\(identifier)/net/tcp", encoding: .utf8)) ?? ""
        let own = String(format: ":%04X", port)
        var ends: Set<String> = []
        for line in table.split(separator: "\n").dropFirst() {
            // Its number, the two ends, and its state: 01 is a connection that neither end has closed.
            let fields = line.split(separator: " ")
            guard fields.count > 3, fields[3] == "01", fields[1].hasSuffix(own) else { continue }
            ends.insert(String(fields[2]))
        }
        return ends
    }

    /// Memory that it has resident now, in MiB.
    public var residentMegabytes: Double { Self.megabytes("VmRSS", of: identifier) }
    /// Of it, what is the process's own, in MiB. The rest is of files: the program and the mapped database, which the
    /// system takes back whenever it wants to.
    public var ownMegabytes: Double { Self.megabytes("RssAnon", of: identifier) }
    /// The most memory that it ever had resident, in MiB.
    public var peakMegabytes: Double { Self.megabytes("VmHWM", of: identifier) }

    /// Seconds of the processor's time so far, user and system; 0 where the system does not tell.
    public var processorSeconds: Double {
        let stat = (try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)) ?? ""
        // What is in parentheses is the program's name.
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// A line of `/proc/<process>/status`, in MiB; 0 where there is none.
    public static func megabytes(_ line: String, of process: Int32) -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let found = status.split(separator: "\n").first { $0.hasPrefix(line + ":") } ?? ""
        return (Double(found.filter(\.isNumber)) ?? 0) / 1024
    }
}
