import Foundation

/// A PostgreSQL beside this program, with data of its own, as `Tests/Support/postgres` runs it.
public final class PostgresProcess: @unchecked Sendable {
    // Unchecked: started in the initialiser, then only read, and stopped once.
    /// Of its superuser, without a database: `postgres://postgres@/?host=…`.
    public let url: String
    public let dataFolder: String
    /// Of 127.0.0.1, where it listens there.
    public let port: Int?
    private let process = Process()
    private let input = Pipe()

    public struct StartFailure: Error {}

    public enum Restart: String, Sendable {
        /// Connections are ended, and what is under way is taken back.
        case fast
        /// As if the machine had lost its power.
        case immediate
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Tests/Support/postgres")

    /// Returns once it is ready.
    /// - Parameters:
    ///   - listens: on 127.0.0.1 as well, for whoever has a password.
    ///   - smallDisk: mebibytes for its log and for `smallFolder`; root alone can have that.
    ///   - hasStandby: one that follows it.
    ///   - isDurable: false where speed is all, and nobody keeps anything.
    public init(listens: Bool = false, smallDisk: Int? = nil, hasStandby: Bool = false, isDurable: Bool = true)
        async throws
    {
        port = listens ? try MailServer.freePort() : nil
        process.executableURL = Self.script
        // It ends with its standard input, and that with this program, whatever becomes of it.
        process.arguments = [
            "bash", "-c",
            #"printf '%s\n' "$SEALKIT_TEST_POSTGRES" "$SEALKIT_TEST_POSTGRES_DATA" && exec cat >/dev/null"#,
        ]
        var environment = ProcessInfo.processInfo.environment
        environment["PORT"] = port.map { "\($0)" }
        environment["SMALL"] = smallDisk.map { "\($0)" }
        environment["STANDBY"] = hasStandby ? "1" : nil
        environment["FSYNC"] = isDurable ? "on" : "off"
        process.environment = environment
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        url = await output.line()
        dataFolder = await output.line()
        guard !dataFolder.isEmpty else { throw StartFailure() }
    }

    /// Of a database, by the socket.
    public func url(of database: String) -> String { url.replacing("@/?", with: "@/\(database)?") }

    /// The certificate of the authority that its own is of, for `localhost`.
    public var authority: String { folder + "/ca.pem" }
    /// On the small disk, for tablespaces.
    public var smallFolder: String { folder + "/small/space" }

    private var folder: String { (dataFolder as NSString).deletingLastPathComponent }

    /// The folder of its socket, and of the standby's.
    public var socket: String { url.split(separator: "host=").last?.split(separator: "&").first.map(String.init) ?? "" }
    public var standbySocket: String { socket + "/standby" }

    /// Makes the standby the primary.
    public func promoteStandby() async throws {
        let promoted = try await Command.finished(Self.script, ["--promote", folder + "/standby"])
        guard promoted.status == 0 else { throw StartFailure() }
    }

    /// Also where it was killed.
    public func restart(_ mode: Restart) async throws {
        let restart = try await Command.finished(Self.script, ["--restart", dataFolder, mode.rawValue])
        guard restart.status == 0 else { throw StartFailure() }
    }

    /// SIGKILL: its processes notice that it is gone, and end.
    public func kill() throws {
        let text = try String(contentsOfFile: dataFolder + "/postmaster.pid", encoding: .utf8)
        guard let first = text.split(separator: "\n").first, let process = Int32(first), process > 1 else {
            throw StartFailure()
        }
        Foundation.kill(process, SIGKILL)
    }

    /// Ends it and removes its data.
    public func stop() async {
        try? input.fileHandleForWriting.close()
        await process.end()
    }

    deinit { try? input.fileHandleForWriting.close() }
}
