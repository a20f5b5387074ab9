import Foundation
import SealSystem
import Synchronization

/// What this process tells the others on its database, and hears of them, by a connection of its own.
///
/// They are hints: one that is lost costs time, never a change. They do not go with the commits that they are of, since
/// PostgreSQL lets commits with a `NOTIFY` go one at a time only; they are gathered for some milliseconds. Whatever may
/// have been lost with a connection or a process, everybody is told to look at everything.
final class PostgresNotices: Sendable {
    /// Microseconds for which announcements are gathered.
    private static let gathering: Int64 = 5_000
    /// Microseconds between two looks who is there.
    private static let look: Int64 = 5_000_000
    /// Microseconds after a look for which the connection is taken for a good one.
    private static let heard: Int64 = 10_000_000
    /// Microseconds after which it is tried again where there was none to be had.
    private static let pause: Int64 = 1_000_000
    private static let mostWaiting = 10_000
    /// Of the words of one notice, which may have 8,000 bytes.
    private static let mostWords = 300
    /// Somebody came or goes: it is time to look who is there.
    private static let change = "c"

    private struct State {
        var waiting: Set<Announcement> = []
        var sendsAt: Int64?
        /// Somebody waits to hear whether this process is shown.
        var joining: [CheckedContinuation<Void, any Error>] = []
        var isRunning = false
        var isStopped = false
        var stopping: [CheckedContinuation<Void, Never>] = []
    }

    let peers: Peers
    private let make: @Sendable () -> PostgresSession
    private let clock = steadyClock
    private let alarm: Alarm
    private let state = Mutex(State())
    private let listener = AnnouncementListener()

    /// - Parameter era: of the process's other connections: where those are to another server, so is this.
    init(
        _ address: PostgresAddress, _ era: PostgresEra, _ metrics: ServerMetrics
    ) throws {
        alarm = try Alarm()
        let peers = Peers(heardUntil: .min, clock: steadyClock)
        self.peers = peers
        make = {
            PostgresSession(.reader, address, of: era) { session in
                try PostgresServer.prepareNotices(session)
                try PostgresServer.enter(era, session)
                try PostgresServer.show(peers.own, by: session)
                metrics.count(.connects, "notices")
            }
        }
    }

    /// Whether the process serves the database, or begins to.
    var isRunning: Bool { state.withLock(\.isRunning) }

    func listen(_ listener: @escaping @Sendable (Set<Announcement>) -> Void) {
        self.listener.listen(listener)
    }

    /// Shows this process to the others, and hears them from now on.
    /// - Throws: `unavailable`, `closed`.
    func join() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let (isFirst, isStopped) = state.withLock { state in
                guard !state.isStopped else { return (false, true) }
                state.joining.append(continuation)
                defer { state.isRunning = true }
                return (!state.isRunning, false)
            }
            if isStopped { continuation.resume(throwing: StorageError.closed) }
            // A thread of its own: it waits for the network nearly always.
            if isFirst { Thread.detachNewThread { self.run() } }
            alarm.ring()
        }
    }

    /// Tells the others, soon.
    func send(_ announced: Set<Announcement>) {
        guard !peers.isAlone else { return }
        let isFirst = state.withLock { state in
            guard state.isRunning, !state.isStopped else { return false }
            state.waiting.formUnion(announced)
            // The connection is away for long: more than this others look up sooner than they hear it.
            if state.waiting.count > Self.mostWaiting { state.waiting = [.anything] }
            guard state.sendsAt == nil else { return false }
            state.sendsAt = clock() + Self.gathering
            return true
        }
        if isFirst { alarm.ring() }
    }

    /// Tells what is still to be told, and leaves.
    func stop() async {
        await withCheckedContinuation { continuation in
            let isRunning = state.withLock { state in
                state.isStopped = true
                if state.isRunning { state.stopping.append(continuation) }
                return state.isRunning
            }
            if isRunning { alarm.ring() } else { continuation.resume() }
        }
    }

    // MARK: The thread

    private func run() {
        let session = make()
        while !state.withLock(\.isStopped) {
            do {
                try session.connectAgain()
                try serve(session)
            } catch {
                peers.loseHearing()
                for waiting in takeJoining() { waiting.resume(throwing: error) }
                session.close()
                alarm.wait(for: nil, until: clock() + Self.pause, clock)
            }
        }
        session.close()
        for waiting in takeJoining() { waiting.resume(throwing: StorageError.closed) }
        let stopping = state.withLock { state in
            defer { (state.stopping, state.isRunning) = ([], false) }
            return state.stopping
        }
        for waiting in stopping { waiting.resume() }
    }

    private func takeJoining() -> [CheckedContinuation<Void, any Error>] {
        state.withLock { state in
            defer { state.joining = [] }
            return state.joining
        }
    }

    /// Tells and hears until told to stop.
    /// - Throws: `unavailable` where the connection is lost.
    private func serve(_ session: PostgresSession) throws {
        // What was announced before this connection was there: first, since nothing is remembered before the look.
        hear([.anything])
        try lookAround(session)
        // And what this process could not tell.
        try tell([Self.change, Announcement.anything.word], session)
        var looksAt = clock() + Self.look
        while true {
            for waiting in takeJoining() { waiting.resume() }
            // The others may be connected to another server by now.
            guard session.isConnected else { throw StorageError.unavailable(message: "no connection") }
            let now = clock()
            let (words, next, isStopped) = takeDue(now)
            if !words.isEmpty { try tell(words, session) }
            if isStopped {
                // Before the others look, this process is none of them any more.
                try session.runScript("SELECT pg_advisory_unlock_all()")
                return try tell([Self.change], session)
            }
            if now >= looksAt {
                try lookAround(session)
                looksAt = clock() + Self.look
            }
            // Also what came along with an answer, of which the socket says nothing any more.
            try hearNotices(session)
            guard let socket = session.socket else { throw StorageError.unavailable(message: "no connection") }
            alarm.wait(for: socket, until: min(next ?? looksAt, looksAt), clock)
        }
    }

    /// - Returns: what is to be told now, and when the next is.
    private func takeDue(_ now: Int64) -> (words: [String], next: Int64?, isStopped: Bool) {
        state.withLock { state in
            guard let sendsAt = state.sendsAt, sendsAt <= now || state.isStopped else {
                return ([], state.sendsAt, state.isStopped)
            }
            defer { (state.waiting, state.sendsAt) = ([], nil) }
            return (state.waiting.map(\.word), nil, state.isStopped)
        }
    }

    private func tell(_ words: [String], _ session: PostgresSession) throws {
        var left = words[...]
        while !left.isEmpty {
            let text = ([String(peers.own)] + left.prefix(Self.mostWords)).joined(separator: " ")
            left = left.dropFirst(Self.mostWords)
            _ = try session.run("SELECT pg_notify('sealkit', $1)", [.text(text)]) { _ in true }
        }
    }

    private func lookAround(_ session: PostgresSession) throws {
        let began = clock()
        let processes = try PostgresServer.processes(session)
        let (came, went) = peers.note(processes, heardUntil: began + Self.heard)
        // They may have remembered something before this process knew that it has to tell them.
        if came { try tell([Announcement.anything.word], session) }
        // What they announced last may be lost.
        if went { hear([.anything]) }
    }

    private func hearNotices(_ session: PostgresSession) throws {
        while true {
            let texts = try session.notices()
            if texts.isEmpty { return }
            var heard: Set<Announcement> = []
            var hasChanged = false
            for text in texts {
                let words = text.split(separator: " ")
                guard let sender = words.first, sender != String(peers.own) else { continue }
                for word in words.dropFirst() {
                    if word == Self.change { hasChanged = true }
                    if let announcement = Announcement(word: word) { heard.insert(announcement) }
                }
            }
            if hasChanged { try lookAround(session) }
            if !heard.isEmpty { hear(heard) }
        }
    }

    private func hear(_ announced: Set<Announcement>) { listener.tell(announced) }
}

/// What a thread that waits for the network is woken by.
private final class Alarm: Sendable {
    private let (reading, writing): (CInt, CInt)

    init() throws {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw StorageError.unavailable(message: "no pipe could be made: \(errno)") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    func ring() {
        // Where the pipe is full it has been rung often enough.
        _ = write(writing, [1], 1)
    }

    /// Until it rings, something comes by the socket, or the time has come.
    /// - Parameter time: by `clock`.
    func wait(for socket: CInt?, until time: Int64, _ clock: () -> Int64) {
        var files = [reading, socket ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let milliseconds = max(0, min(time - clock() + 999, 60_000_000)) / 1_000
        guard poll(&files, nfds_t(files.count), CInt(milliseconds)) > 0, files[0].revents != 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reading, &bytes, bytes.count) > 0 {}
    }
}
