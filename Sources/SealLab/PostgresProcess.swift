import Foundation

/// A PostgreSQL beside this program, with data of its own, as `Tests/Support/postgres` runs it.
public final class PostgresProcess: Sendable {
    /// Of its superuser, without a database: `postgres://postgres@/?host=…`.
    public let url: String
    public let dataFolder: String
    /// Of 127.0.0.1, where it listens there.
    public let port: Int?
    private let service: ScriptedService

    public enum Restart: String, Sendable {
        /// Connections are ended, and what is under way is taken back.
        case fast
        /// As if the machine had lost its power.
        case immediate
    }

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
        service = try await ScriptedService(
            "postgres", telling: ["SEALKIT_TEST_POSTGRES", "SEALKIT_TEST_POSTGRES_DATA"],
            environment: [
                "PORT": port.map { "\($0)" }, "SMALL": smallDisk.map { "\($0)" }, "STANDBY": hasStandby ? "1" : nil,
                "FSYNC": isDurable ? "on" : "off",
            ])
        (url, dataFolder) = (service.values[0], service.values[1])
    }

    /// Of a database, by the socket.
    public func url(of database: String) -> String { Self.url(of: database, at: url) }

    /// The same of any server's URL without a database.
    static func url(of database: String, at server: String) -> String {
        server.replacing("@/?", with: "@/\(database)?")
    }

    /// Of `createdb`: an empty database as servers want it.
    static let databaseOptions = ["--template=template0", "--encoding=UTF8", "--locale=C"]

    /// Makes an empty database.
    /// - Parameter owner: a role; nil for the superuser.
    /// - Returns: its URL, by the socket.
    @discardableResult
    public func makeDatabase(_ name: String, owner: String? = nil) async throws -> String {
        let made = try await Command.finished(
            URL(fileURLWithPath: "/usr/bin/createdb"),
            ["--maintenance-db", url(of: "postgres")] + Self.databaseOptions
                + (owner.map { ["--owner=\($0)"] } ?? []) + [name])
        guard made.status == 0 else { throw ScriptedService.Failure(description: "createdb \(name): \(made.errors)") }
        return url(of: name)
    }

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
        try await service.tell(["--promote", folder + "/standby"])
    }

    /// Also where it was killed.
    public func restart(_ mode: Restart) async throws {
        try await service.tell(["--restart", dataFolder, mode.rawValue])
    }

    /// The small disk is none any more.
    public func makeRoom() async throws {
        try await service.tell(["--room", dataFolder])
    }

    /// SIGKILL: its processes notice that it is gone, and end.
    public func kill() throws {
        let text = try String(contentsOfFile: dataFolder + "/postmaster.pid", encoding: .utf8)
        guard let first = text.split(separator: "\n").first, let process = Int32(first), process > 1 else {
            throw ScriptedService.Failure(description: "postmaster.pid does not begin with a process")
        }
        Foundation.kill(process, SIGKILL)
    }

    /// Ends it and removes its data.
    public func stop() async { await service.stop() }
}
