public import Foundation
import Synchronization

/// Requests from several connections at once, each on a thread of its own, one request at a time.
public enum Load {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// - Parameters:
    ///   - requests: of each connection, in order, as `HTTPConnection.request` makes them.
    ///   - isGood: judges an answer.
    /// - Returns: seconds from the first byte to the last answer. Connections are made before.
    public static func run(
        port: Int, _ requests: [[[UInt8]]], isGood: @escaping @Sendable (_ status: Int, _ body: Data) -> Bool
    ) throws -> Double {
        let connections = try requests.map { _ in try HTTPConnection(port: port) }
        let failure = Mutex<String?>(nil)
        let group = DispatchGroup()
        let start = ContinuousClock.now
        for (connection, own) in zip(connections, requests) {
            let sender = Sender(connection: connection)
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do {
                    for request in own {
                        try sender.connection.send(request)
                        let answer = try sender.connection.receive()
                        guard isGood(answer.status, answer.body) else {
                            throw HTTPConnection.Failure(description: "an answer with status \(answer.status) is not what was asked for")
                        }
                    }
                } catch {
                    failure.withLock { $0 = "\(error)" }
                }
            }
        }
        group.wait()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        if let failure = failure.withLock({ $0 }) { throw Failure(description: failure) }
        return seconds
    }

    /// A connection that its one thread takes along.
    private struct Sender: @unchecked Sendable { let connection: HTTPConnection }
}
