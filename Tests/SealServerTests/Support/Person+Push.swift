import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

@testable import SealServer
@testable import SealService
@testable import SealStorage

extension Person {
    /// The same person, logged in on another device.
    func onAnotherDevice() async throws -> Person {
        var client = client
        client.token = try await client.login().token
        return Person(client: client, keys: keys, chain: chain)
    }

    /// The same device, after the server was started again.
    func at(_ server: RunningServer) -> Person {
        var client = client
        client.server = server
        return Person(client: client, keys: keys, chain: chain)
    }

    func databasePath(_ database: String, _ call: String) -> String {
        "/database/1/\(TestClient.container)/development/\(database)/\(call)"
    }

    func modifySubscriptions(
        saving saves: [Sealkit_V1_Subscription] = [], deleting deletes: [String] = [], in database: String = "private",
        operation: [UInt8]? = nil
    ) async throws -> [Sealkit_V1_SubscriptionResult] {
        var request = Sealkit_V1_ModifySubscriptionsRequest()
        request.operationID = Data(operation ?? randomBytes(16))
        request.saves = saves
        request.deletes = deletes
        return try await client.call(
            databasePath(database, "subscriptions/modify"), request, as: Sealkit_V1_ModifySubscriptionsResponse.self
        ).results
    }

    func subscribe(_ subscription: Sealkit_V1_Subscription, in database: String = "private") async throws {
        let result = try await modifySubscriptions(saving: [subscription], in: database)[0]
        guard case .subscription = result.outcome else { throw TestFailure("not subscribed: \(result.failure)") }
    }

    func subscriptions(in database: String = "private") async throws -> [Sealkit_V1_Subscription] {
        try await client.call(
            databasePath(database, "subscriptions/list"), Sealkit_V1_ListSubscriptionsRequest(),
            as: Sealkit_V1_ListSubscriptionsResponse.self
        ).subscriptions
    }

    func lookupSubscriptions(_ ids: [String], in database: String = "private") async throws
        -> [Sealkit_V1_SubscriptionResult]
    {
        try await client.call(
            databasePath(database, "subscriptions/lookup"),
            Sealkit_V1_LookupSubscriptionsRequest.with { $0.subscriptionIds = ids },
            as: Sealkit_V1_LookupSubscriptionsResponse.self
        ).results
    }

    /// The id of a number that was given out since the server was started.
    func notificationID(_ number: Int64) async throws -> String {
        try await client.server.services.database.read { connection in
            let run = try connection.first("SELECT MAX(number) AS run FROM server_run") { try $0.int64("run") }
            return NotificationFeed.ID(number: number, run: run ?? 0).description
        }
    }

    /// An open event stream of this device, past its first event.
    func listen(after id: String? = nil) async throws -> TestEvents { try await TestEvents(client, after: id) }
}

extension Sealkit_V1_Subscription {
    static func database(_ id: String = "db", type: String = "") -> Sealkit_V1_Subscription {
        .with {
            $0.subscriptionID = id
            $0.kind = 3
            $0.recordType = type
        }
    }

    static func zone(_ zone: TestZone, _ id: String = "zone", type: String = "") -> Sealkit_V1_Subscription {
        .with {
            $0.subscriptionID = id
            $0.kind = 2
            $0.zone.zoneName = zone.name
            $0.recordType = type
        }
    }

    static func query(
        _ id: String = "query", type: String = "Note", firesOn: UInt32 = 7, desiredKeys: [String] = [],
        where predicate: Query.Predicate = Query.Predicate([])
    ) -> Sealkit_V1_Subscription {
        .with {
            $0.subscriptionID = id
            $0.kind = 1
            $0.recordType = type
            $0.firesOn = firesOn
            $0.notificationInfo.desiredKeys = desiredKeys
            $0.filterBy = Query(recordType: type, predicate: predicate).wire.filterBy
        }
    }
}

/// An event stream, read as a client reads it.
final class TestEvents: Sendable {
    struct Event: Sendable, Equatable {
        var name = ""
        var id: String?
        var data = ""
        /// That the id is of.
        var number: Int64? { id.flatMap { NotificationFeed.ID($0) }?.number }
        /// Only the place has moved.
        var isHeartbeat: Bool { name.isEmpty }

        var notification: Sealkit_V1_Notification {
            get throws { try Sealkit_V1_Notification(jsonString: data) }
        }
        var failure: Sealkit_V1_Failure { get throws { try Sealkit_V1_Failure(jsonString: data) } }
    }

    let status: UInt
    let headers: [String: String]
    /// `ready` or `reset`.
    let first: Event
    private let events: AsyncThrowingStream<Event, any Error>
    private let reader: Task<Void, Never>

    init(_ client: TestClient, after id: String?) async throws {
        var request = HTTPClientRequest(
            url: client.server.origin + "/database/1/\(TestClient.container)/development/notifications")
        request.headers.add(name: "Authorization", value: "Bearer \(client.token)")
        // The server closes the connection when a stream has ended: nobody else may be about to use it then.
        request.headers.add(name: "Connection", value: "close")
        if let id { request.headers.add(name: "Last-Event-ID", value: id) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
        status = response.status.code
        headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
        guard response.status == .ok else {
            let data = Data(buffer: try await response.body.collect(upTo: 1 << 20))
            throw Refusal(status: status, failure: try Sealkit_V1_Failure(jsonUTF8Bytes: data))
        }
        let (events, continuation) = AsyncThrowingStream<Event, any Error>.makeStream()
        reader = Task {
            var event = Event()
            var bytes: [UInt8] = []
            do {
                for try await part in response.body {
                    for byte in part.readableBytesView {
                        guard byte == 0x0A else {
                            bytes.append(byte)
                            continue
                        }
                        let line = String(decoding: bytes, as: UTF8.self)
                        bytes = []
                        if line.isEmpty {
                            if event != Event() { continuation.yield(event) }
                            event = Event()
                        } else if line.hasPrefix("event: ") {
                            event.name = String(line.dropFirst(7))
                        } else if line.hasPrefix("id: ") {
                            event.id = String(line.dropFirst(4))
                        } else if line.hasPrefix("data: ") {
                            event.data += String(line.dropFirst(6))
                        }
                    }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        self.events = events
        first = try await Self.next(events)
    }

    deinit { reader.cancel() }

    /// Ends the connection from this side.
    func close() { reader.cancel() }

    /// The next event, as a client sees it: heartbeats come whenever a test takes long. Fails where none comes.
    func next() async throws -> Event {
        for _ in 0..<4 {
            let event = try await nextOrHeartbeat()
            if !event.isHeartbeat { return event }
        }
        throw TestFailure("nothing but heartbeats came")
    }

    func nextOrHeartbeat() async throws -> Event { try await Self.next(events) }

    /// The next notification.
    func notification() async throws -> Sealkit_V1_Notification {
        let event = try await next()
        guard event.name == "notification" else { throw TestFailure("not a notification: \(event)") }
        return try event.notification
    }

    /// Whether the server ended the stream, with nothing more to come.
    func hasEnded() async throws -> Bool {
        do {
            _ = try await next()
            return false
        } catch is StreamEnd {
            return true
        }
    }

    struct StreamEnd: Error {}

    private static func next(_ events: AsyncThrowingStream<Event, any Error>) async throws -> Event {
        try await withThrowingTaskGroup(of: Event.self) { group in
            group.addTask {
                var iterator = events.makeAsyncIterator()
                guard let event = try await iterator.next() else { throw StreamEnd() }
                return event
            }
            group.addTask {
                try await Task.sleep(for: .seconds(60))
                throw TestFailure("no event came")
            }
            guard let event = try await group.next() else { throw StreamEnd() }
            group.cancelAll()
            return event
        }
    }
}
