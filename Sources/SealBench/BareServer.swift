import Foundation
import Hummingbird
import Logging
import NIOCore
import SealLab

/// The limit of look-ups: a Hummingbird server with one route that reads the body and answers so many bytes, as a
/// process of its own like the real one.
final class BareServer {
    let port: Int
    private let process = Process()

    struct StartFailure: Error {}

    init(answering bytes: Int) throws {
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["bare-server", "\(bytes)"]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.start()
        let line = output.readLine()
        guard let port = Int(line.filter(\.isNumber)) else { throw StartFailure() }
        self.port = port
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// What the process does.
    static func serve(_ bytes: Int) async throws {
        let router = Router()
        let answer = ByteBuffer(repeating: 7, count: bytes)
        router.post("database/1/{container}/{environment}/{database}/records/lookup") { request, _ in
            _ = try await request.body.collect(upTo: 1 << 20)
            return Response(
                status: .ok, headers: [.contentType: "application/x-protobuf", .contentLength: String(bytes)],
                body: ResponseBody(byteBuffer: answer))
        }
        var logger = Logger(label: "bare")
        logger.logLevel = .error
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
            }, logger: logger)
        try await application.run()
    }
}
