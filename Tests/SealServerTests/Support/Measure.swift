import Foundation
import SealEnvelope
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// Figures rather than tests: `SEALKIT_MEASURE=1 swift test -c release --filter Measure`.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["SEALKIT_MEASURE"] != nil), .serialized, .timeLimit(.minutes(60)))
struct Measure {
    /// Records a second over HTTP: batches of 400 records of ten encrypted fields of 100 bytes. Requests are sealed
    /// before the clock starts and answers are not opened: this is the server with its transport, client's share left
    /// out.
    @Test func records() async throws {
        try await RunningServer.with(runsTwice: false) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let text = String(repeating: "x", count: 100)
            let batches = 25
            let requests = try (0..<batches).map { batch in
                try anna.request(
                    (0..<400).map { index in
                        var write = Write("\(UUID().uuidString)-\(batch)-\(index)", nil)
                        write.fields = (0..<10).map { ("field\($0)", .encrypted(.string(text))) }
                        return write
                    }, in: zone
                ).request
            }
            for width in [1, 2, 4] {
                let part = requests[(width == 1 ? 0 : width == 2 ? 5 : 15)..<(width == 1 ? 5 : width == 2 ? 15 : 25)]
                let start = ContinuousClock.now
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for lane in 0..<width {
                        let mine = part.enumerated().filter { $0.offset % width == lane }.map(\.element)
                        group.addTask {
                            for request in mine { _ = try await anna.send(request, to: zone) }
                        }
                    }
                    try await group.waitForAll()
                }
                report("write, \(width) at a time", part.count * 400, since: start)
            }
            let bytes = try requests[0].serializedData().count
            print("MEASURE request of 400: \(bytes) bytes")
            var token = Data()
            var count = 0
            let start = ContinuousClock.now
            while true {
                let page = try await anna.changes(in: zone, since: token)
                count += page.records.count
                token = page.token
                if !page.moreComing { break }
            }
            report("read changes", count, since: start)
            let names = requests[0].records.map(\.recordName)
            let lookups = ContinuousClock.now
            for _ in 0..<10 { _ = try await anna.lookup(names, in: zone) }
            report("look up", 4000, since: lookups)
        }
    }

    func report(_ what: String, _ count: Int, since start: ContinuousClock.Instant) {
        let time = ContinuousClock.now - start
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        print("MEASURE \(what): \(count) records in \(Int(seconds * 1000)) ms = \(Int(Double(count) / seconds))/s")
    }

    /// Serves, and writes origin, token and zone to a file, for curl.
    @Test func serve() async throws {
        guard let file = ProcessInfo.processInfo.environment["SEALKIT_SERVE"] else { return }
        try await RunningServer.with(runsTwice: false) { server in
            let anna = try await Person.ready(server)
            _ = try await anna.makeZone()
            try "\(server.origin)\n\(anna.client.token)\n".write(toFile: file, atomically: true, encoding: .utf8)
            try await Task.sleep(for: .seconds(30))
        }
    }
}
