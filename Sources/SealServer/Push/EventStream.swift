import Hummingbird
import NIOCore
import SealService
import SealStatements
import SealStorage
import SealWire

/// One open stream: reads its user's feed whenever it is woken, and writes what the device has not received.
struct EventStream {
    let transactions: Transactions
    let rates: RequestRates
    let streams: EventStreams
    let clock: @Sendable () -> Int64
    let session: Session
    let caller: Caller
    let container: String
    let environment: SealStatements.Environment
    let opened: EventStreams.Opened
    /// What the device has received, as it says.
    let lastEventID: NotificationFeed.ID?
    let telemetry: TelemetryRecorder?

    /// At most that often does a busy feed make a stream read: what happens between is told together.
    private static let pause: Duration = .milliseconds(50)

    private enum Look: Sendable {
        case ended
        /// The account's streams have told as much as they may for now.
        case mustWait
        /// Not all that came since is still to be told.
        case lost(NotificationFeed.Place)
        /// - Parameter coalesced: changes up to the last one, which are told together with later ones.
        case entries([NotificationFeed.Entry], NotificationFeed.Place, coalesced: Int)
    }

    /// Writes until the stream is closed, its session ends, or its reader goes.
    func run(_ writer: inout any ResponseBodyWriter) async throws {
        var buffer = ByteBuffer()
        ServerSentEvent.writeRetry(to: &buffer)
        var position = try await start(&buffer)
        try await flush(&buffer, to: &writer)
        var hasEnded = try await tell(&position, &writer)
        if !hasEnded {
            for await signal in opened.signals {
                let before = position
                hasEnded = try await tell(&position, &writer)
                if hasEnded { break }
                if signal == .heartbeat, before == position {
                    ServerSentEvent.writeHeartbeat(id: position, to: &buffer)
                    try await flush(&buffer, to: &writer)
                }
                try await Task.sleep(for: Self.pause)
            }
        }
        try await writer.finish(nil)
    }

    /// Where the stream begins.
    private func start(_ buffer: inout ByteBuffer) async throws -> NotificationFeed.ID {
        let (owner, lastEventID) = (caller.id, lastEventID)
        let (end, isKept) = try await transactions.read { connection in
            let place = try NotificationFeed.place(of: owner, in: connection)
            let isKept = try lastEventID.map { try NotificationFeed.isKept($0, of: owner, place, in: connection) }
            return (place.end, isKept ?? true)
        }
        guard isKept else {
            try reset(at: end, &buffer)
            return end
        }
        let position = lastEventID ?? end
        try ServerSentEvent.write(.ready, id: position, nil, to: &buffer)
        return position
    }

    private func reset(at position: NotificationFeed.ID, _ buffer: inout ByteBuffer) throws {
        let failure = Sealkit_V1_Failure(
            .changeTokenExpired, "Not all notifications since then are kept any more.",
            remedy: "Fetch the databases' changes by their tokens.")
        try ServerSentEvent.write(.reset, id: position, failure, to: &buffer)
    }

    /// Writes all that there is for the device, or as much as the account's streams may tell: the next signal, a
    /// heartbeat at the latest, has the rest, which is one with what comes meanwhile. True when the session has ended.
    private func tell(
        _ position: inout NotificationFeed.ID, _ writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        while true {
            var buffer = ByteBuffer()
            switch try await look(after: position) {
            case .ended:
                try ServerSentEvent.write(.end, id: nil, ServerError.endedSession.failure, to: &buffer)
                try await flush(&buffer, to: &writer)
                return true
            case .mustWait: return false
            case .lost(let place):
                try reset(at: place.end, &buffer)
                position = place.end
                try await flush(&buffer, to: &writer)
            case .entries(let entries, let place, _) where entries.isEmpty:
                // What lies between was this device's own.
                position = place.end
                return false
            case .entries(let entries, _, let coalesced):
                for entry in entries {
                    try ServerSentEvent.write(
                        .notification, id: entry.completesNumber ? entry.id : nil, entry.message, to: &buffer)
                    position = entry.id
                }
                try await flush(&buffer, to: &writer)
                note(entries.count, coalesced: coalesced)
            }
        }
    }

    private func note(_ count: Int, coalesced: Int) {
        streams.tells(count, coalesced: coalesced)
        let place = TelemetryPlace(container: container, environment: environment.name)
        telemetry?.note(.event(.notification, "stream", in: place), count: count)
        telemetry?.note(.event(.coalesced, "stream", in: place), count: coalesced)
    }

    private func look(after position: NotificationFeed.ID) async throws -> Look {
        let (session, caller, environment, now) = (session, caller, environment, clock())
        let account = RateLimiter.Subject.account(caller.accountID)
        let mustWait = rates.isOwing(.notification, account)
        let look: Look = try await transactions.read { connection in
            guard try Sessions.isInForce(session, now: now, in: connection) else { return .ended }
            guard !mustWait else { return .mustWait }
            let place = try NotificationFeed.place(of: caller.id, in: connection)
            // The database may be another one's than at the last look: a standby's that took over.
            guard try NotificationFeed.isKept(position, of: caller.id, place, in: connection) else {
                return .lost(place)
            }
            guard place.last > position.number else { return .entries([], place, coalesced: 0) }
            let entries = try NotificationFeed.page(of: caller, environment, after: position.number, in: connection)
            return .entries(
                entries, place,
                coalesced: try Self.coalesced(entries, of: caller.id, after: position.number, in: connection))
        }
        if case .entries(let entries, _, _) = look, !entries.isEmpty {
            rates.charge(.notification, account, amount: entries.count)
        }
        return look
    }

    /// Most often each number is told, and nothing is to be asked.
    private static func coalesced(
        _ entries: [NotificationFeed.Entry], of owner: Int64, after position: Int64, in connection: any SQLConnection
    ) throws -> Int {
        guard let last = entries.last?.number, Set(entries.lazy.map(\.number)).count < last - position else { return 0 }
        return try NotificationFeed.countCoalesced(of: owner, after: position, through: last, in: connection)
    }

    /// Waits for the reader: nothing piles up.
    private func flush(_ buffer: inout ByteBuffer, to writer: inout any ResponseBodyWriter) async throws {
        streams.writes(opened.id, since: .now)
        defer { streams.writes(opened.id, since: nil) }
        try await writer.write(buffer)
        buffer.clear()
    }
}
