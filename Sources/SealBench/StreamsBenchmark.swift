import Foundation
import SealLab

/// The memory of a server that many devices listen to, each by an event stream of its own, and none of them hearing
/// anything.
struct StreamsBenchmark {
    private static let people = 10
    private static let streamsEach = 100

    func run(_ report: inout Report) async throws {
        let count = Self.people * Self.streamsEach
        report.heading(
            "\(count) open event streams",
            "\(Self.people) people with \(Self.streamsEach) devices each, which have read the first event.")
        let server = try ServerProcess.temporary()
        defer { server.remove() }
        var open: [HTTPConnection] = []
        for _ in 0..<Self.people {
            let request = try await BenchmarkPerson(server).notifications()
            for _ in 0..<Self.streamsEach {
                let connection = try HTTPConnection(port: server.port)
                try connection.send(request)
                try connection.receiveSome()
                open.append(connection)
            }
        }
        guard server.openFiles > count else { throw TooFew(files: server.openFiles) }
        withExtendedLifetime(open) {
            report.row("the server's memory", server.residentMegabytes, "MiB", aim: .atMost(150))
        }
    }

    private struct TooFew: Error { let files: Int }
}
