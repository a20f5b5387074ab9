import Foundation

/// An S3 store beside this program, with data of its own, as `Tests/Support/s3` runs it.
public final class S3Process: @unchecked Sendable {
    // Unchecked: started in the initialiser, then only read, and stopped once.
    /// Of its bucket: `s3://…?endpoint=http://127.0.0.1:…`.
    public let url: String
    private let folder: String
    private let process = Process()
    private let input = Pipe()

    public struct StartFailure: Error {}

    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Tests/Support/s3")

    /// Returns once it is ready.
    /// - Parameter volumes: how many servers have its data; with more than one there are two copies of everything.
    public init(volumes: Int = 1) async throws {
        process.executableURL = Self.script
        // It ends with its standard input, and that with this program, whatever becomes of it.
        process.arguments = [
            "bash", "-c",
            #"printf '%s\n' "$SEALKIT_TEST_S3" "$SEALKIT_TEST_S3_FOLDER" && exec cat >/dev/null"#,
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(["VOLUMES": "\(volumes)"]) { $1 }
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        url = await output.line()
        folder = await output.line()
        guard !folder.isEmpty else { throw StartFailure() }
    }

    /// As Amazon's tools have it.
    public var credentialsFile: String { folder + "/credentials" }

    /// SIGKILL for one of the servers that have its data.
    /// - Parameter volume: from 1 on.
    public func kill(volume: Int) async throws { try await tell(volume, "kill") }

    /// Starts it again.
    public func start(volume: Int) async throws { try await tell(volume, "start") }

    private func tell(_ volume: Int, _ what: String) async throws {
        let told = try await Command.finished(Self.script, ["--volume", folder, "\(volume)", what])
        guard told.status == 0 else { throw StartFailure() }
    }

    /// Ends it and removes its data.
    public func stop() async {
        try? input.fileHandleForWriting.close()
        await process.end()
    }

    deinit { try? input.fileHandleForWriting.close() }
}
