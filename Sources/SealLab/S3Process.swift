/// An S3 store beside this program, with data of its own, as `Tests/Support/s3` runs it.
public final class S3Process: Sendable {
    /// Of its bucket: `s3://…?endpoint=http://127.0.0.1:…`.
    public let url: String
    private let folder: String
    private let service: ScriptedService

    /// Returns once it is ready.
    /// - Parameter volumes: how many servers have its data; with more than one there are two copies of everything.
    public init(volumes: Int = 1) async throws {
        service = try await ScriptedService(
            "s3", telling: ["SEALKIT_TEST_S3", "SEALKIT_TEST_S3_FOLDER"], environment: ["VOLUMES": "\(volumes)"])
        (url, folder) = (service.values[0], service.values[1])
    }

    /// As Amazon's tools have it.
    public var credentialsFile: String { folder + "/credentials" }

    /// SIGKILL for one of the servers that have its data.
    /// - Parameter volume: from 1 on.
    public func kill(volume: Int) async throws { try await tell(volume, "kill") }

    /// Starts it again.
    public func start(volume: Int) async throws { try await tell(volume, "start") }

    private func tell(_ volume: Int, _ what: String) async throws {
        try await service.tell(["--volume", folder, "\(volume)", what])
    }

    /// Ends it and removes its data.
    public func stop() async { await service.stop() }
}
