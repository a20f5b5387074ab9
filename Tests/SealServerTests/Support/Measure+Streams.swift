import Foundation
import SealStatements
import Testing

@testable import SealServer

extension Measure {
    /// Memory of 1,000 open event streams, in an in-process server; the client is a process of its own.
    @Test func streams() async throws {
        var limits = AbuseLimits()
        limits.streamsPerAccount = 1_000
        try await RunningServer.with(limits: limits) { server in
            let anna = try await Person.ready(server)
            let before = try Self.residentBytes()
            let client = Process()
            client.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            client.arguments = [
                "-c",
                """
                import socket, sys, time
                port, path, token = int(sys.argv[1]), sys.argv[2], sys.argv[3]
                streams = []
                for _ in range(1000):
                    s = socket.create_connection(("127.0.0.1", port))
                    s.sendall(f"GET {path} HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer {token}\\r\\n\\r\\n".encode())
                    streams.append(s)
                for s in streams: assert b"200" in s.recv(4096)
                time.sleep(600)
                """,
                String(URL(string: server.origin)?.port ?? 0), "/database/1/\(TestClient.container)/development/notifications",
                anna.client.token,
            ]
            try client.run()
            defer { client.terminate() }
            while server.services.streams.count < 1_000, client.isRunning { try await Task.sleep(for: .milliseconds(50)) }
            #expect(server.services.streams.count == 1_000)
            server.services.streams.heartbeat()
            try await Task.sleep(for: .seconds(5))
            let after = try Self.residentBytes()
            print("MEASURE 1,000 streams: \(before >> 20) MiB before, \(after >> 20) MiB after, \((after - before) / 1_024_000) KiB each")
        }
    }

    private static func residentBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return (Int(status.split(separator: " ")[1]) ?? 0) * Int(getpagesize())
    }
}
