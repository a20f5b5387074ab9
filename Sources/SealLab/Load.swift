public import Foundation
import Synchronization

/// Requests from several connections at once, each on a thread of its own, one request at a time.
public enum Load {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// - Parameters:
    ///   - requests: of each connection, in order, as `HTTPConnection.request` makes them.
    ///   - isGood: judges an answer, when all have come: until then both cores are the server's.
    /// - Returns: seconds from the first byte to the last answer. Connections are made before.
    public static func run(
        port: Int, _ requests: [[[UInt8]]], isGood: @escaping @Sendable (_ status: Int, _ body: Data) -> Bool
    ) throws -> Double {
        let connections = try requests.map { _ in try HTTPConnection(port: port) }
        let failure = Mutex<String?>(nil)
        let answers = Mutex<[(status: Int, body: Data)]>([])
        let group = DispatchGroup()
        let start = ContinuousClock.now
        for (connection, own) in zip(connections, requests) {
            let sender = Sender(connection: connection)
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do {
                    var received: [(status: Int, body: Data)] = []
                    received.reserveCapacity(own.count)
                    for request in own {
                        try sender.connection.send(request)
                        received.append(try sender.connection.receive())
                    }
                    answers.withLock { $0 += received }
                } catch {
                    failure.withLock { $0 = "\(error)" }
                }
            }
        }
        group.wait()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        if let failure = failure.withLock({ $0 }) { throw Failure(description: failure) }
        if let bad = answers.withLock({ $0.first { !isGood($0.status, $0.body) } }) {
            throw Failure(description: "an answer with status \(bad.status) is not what was asked for")
        }
        return seconds
    }

    /// A connection that its one thread takes along.
    private struct Sender: @unchecked Sendable { let connection: HTTPConnection }
}
