import Logging
import SealService
import SealStorage
import SealSystem
import Synchronization

/// The server's telemetry: counts in memory, and once a minute into a file of its own beside the database. Whatever
/// becomes of that file, the server goes on.
final class Telemetry: Sendable {
    static let fileName = "telemetry.sqlite"

    enum State: String, Sendable {
        case ok
        /// Switched off.
        case off
        /// As told, without a log of single requests.
        case counts
        /// Nothing can be written at present; what is counted is kept for some time.
        case failing
    }

    /// Nil where it is switched off.
    let recorder: TelemetryRecorder?

    private struct Held {
        var file: TelemetryFile?
        /// Why nothing can be written at present.
        var failure: (any Error)?
        /// In seconds since 1970: of what was counted before, some was never written, or put aside with its file.
        var wholeSince: Int64 = 0
        /// When that was met to be ahead of the clock.
        var aheadSince: Int64?
        var isClosed = false
    }

    /// How long a clock is behind before it is believed, in seconds.
    private static let patience: Int64 = 600

    private let path: String
    private let limit: Int64
    private let hashes: ActiveAccountHashes
    private let pseudonyms = DailyPseudonyms()
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    private let held = Mutex(Held())
    /// One after another: what one has taken and not written yet would be missing for the next, and be no failure.
    private let flushes = AsyncSlots(count: 1)
    /// Whoever looks at pages waits for others who do, and the file's writer and alerts for one of them at most.
    private let readers = AsyncSlots(count: 1)

    /// Opens nothing yet.
    /// - Parameters:
    ///   - dataFolder: the file's.
    ///   - isOn: false: nothing is counted, and no file is made.
    ///   - hasLog: whether single requests are logged as well.
    ///   - limit: of the file, in bytes.
    ///   - clock: microseconds since 1970.
    init(
        dataFolder: String, isOn: Bool, hasLog: Bool, limit: Int64 = TelemetryFile.usualLimit,
        hashes: ActiveAccountHashes,
        clock: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        path = dataFolder + "/" + Self.fileName
        recorder = isOn ? TelemetryRecorder(hasLog: hasLog, clock: clock) : nil
        (self.limit, self.hashes, self.clock, self.logger) = (limit, hashes, clock, logger)
    }

    /// Of the counts.
    var state: State {
        guard recorder != nil else { return .off }
        return held.withLock { $0.failure != nil ? .failing : .ok }
    }

    /// Of the log.
    var logState: State { recorder?.hasLog == false ? .counts : state }

    /// Writes what has come together.
    func flush() async { await alone { await self.writeAll() } }

    /// Whoever asked for it may give up: what was taken is written all the same, and so it is no part of their task.
    private func alone(_ body: @escaping @Sendable () async -> Void) async {
        let flushes = flushes
        _ = await Task { try? await flushes.run(body) }.value
    }

    private func writeAll() async {
        guard let recorder else { return }
        let batch = recorder.take()
        held.withLock { $0.wholeSince = max($0.wholeSince, batch.lostUntil) }
        let minutes = hashed(batch)
        // What is too old goes also while nobody asks for anything, and what has failed is tried again.
        guard !minutes.isEmpty || held.withLock({ $0.file != nil || $0.failure != nil }) else { return }
        var used: TelemetryFile?
        do {
            let file = try file()
            used = file
            if try await !file.write(minutes, now: clock() / 1_000_000) {
                logger.debug(
                    "the telemetry's file keeps pages of what is gone: they cannot be given back to the disk",
                    metadata: ["file": "\(path)"])
            }
            tell(failure: nil)
        } catch {
            recorder.putBack(minutes)
            if let used, error is TelemetryFileError { held.withLock { putAside(used, error, &$0) } }
            tell(failure: error)
        }
    }

    /// The file, to be read.
    /// - Throws: `CancellationError`, `FileError`, `StorageError`, `TelemetryFileError`.
    func reading<T: Sendable>(_ body: (TelemetryFile) async throws -> T) async throws -> T {
        // Within the turn: before anybody else's flush there is that of one page at most.
        try await readers.run {
            await flush()
            return try await read(body)
        }
    }

    /// The file, to be read by whoever takes what is not in it for what did not happen.
    /// - Parameter body: is told since when everything that was counted is in the file, in seconds since 1970.
    /// - Throws: as `reading`, and where what has come together cannot be written.
    func readingWhole<T>(_ body: (_ file: TelemetryFile, _ since: Int64) async throws -> T) async throws -> T {
        await flush()
        if let failure = held.withLock(\.failure) { throw failure }
        return try await read { file in try await body(file, wholeSince()) }
    }

    private func wholeSince() -> Int64 {
        let now = clock() / 1_000_000
        return held.withLock { held in
            guard held.wholeSince > now else {
                held.aheadSince = nil
                return held.wholeSince
            }
            // Of a clock that was ahead, and nothing would be whole until then; or this one is behind for a moment.
            guard let met = held.aheadSince, met <= now else {
                held.aheadSince = now
                return now
            }
            guard now - met >= Self.patience else { return now }
            (held.wholeSince, held.aheadSince) = (met, nil)
            return met
        }
    }

    private func read<T>(_ body: (TelemetryFile) async throws -> T) async throws -> T {
        let file = try file()
        do { return try await body(file) } catch {
            if let error = error as? TelemetryFileError, error != .tooMuch {
                held.withLock { putAside(file, error, &$0) }
            }
            throw error
        }
    }

    /// Writes what is left, and closes the file.
    func close() async {
        await alone { [self] in
            await writeAll()
            let file = held.withLock { held in
                held.isClosed = true
                defer { held.file = nil }
                return held.file
            }
            file?.close()
        }
    }

    // MARK: The file

    private func file() throws -> TelemetryFile {
        try held.withLock { held in
            if let file = held.file { return file }
            guard !held.isClosed else { throw StorageError.closed }
            let file: TelemetryFile
            do { file = try TelemetryFile(path: path, limit: limit) } catch {
                guard error is TelemetryFileError else { throw error }
                putAside(nil, error, &held)
                file = try TelemetryFile(path: path, limit: limit)
            }
            held.file = file
            return file
        }
    }

    /// What nobody can read is kept, once, for whoever wants to look at it.
    private func putAside(_ file: TelemetryFile?, _ error: any Error, _ held: inout Held) {
        // Somebody else has found that out meanwhile.
        guard held.file === file else { return }
        file?.close()
        held.file = nil
        held.wholeSince = clock() / 1_000_000
        let aside = path + ".damaged"
        do {
            for ending in ["", "-wal", "-shm"] {
                try PrivateFiles.remove(aside + ending)
                if FileStatus(link: path + ending) != nil { try PrivateFiles.rename(path + ending, to: aside + ending) }
            }
            logger.error(
                "the telemetry's file cannot be read: it was put aside, and another one is begun",
                metadata: ["file": "\(aside)", "error": "\(error)"])
        } catch {
            logger.error("the telemetry's file cannot be put aside", metadata: ["error": "\(error)"])
        }
    }

    /// Once when it begins, and once when it is over.
    private func tell(failure: (any Error)?) {
        let wasFailing = held.withLock { held in
            defer { held.failure = failure }
            return held.failure != nil
        }
        guard wasFailing != (failure != nil) else { return }
        if let failure {
            logger.error(
                "telemetry cannot be written; the server goes on, and what is counted is kept for some time",
                metadata: ["file": "\(path)", "error": "\(failure)"])
        } else {
            logger.notice("telemetry is written again", metadata: ["file": "\(path)"])
        }
    }

    /// Here accounts become bits of registers, and pseudonyms of a day.
    private func hashed(_ batch: TelemetryRecorder.Batch) -> [TelemetryMinute] {
        var minutes = batch.minutes
        for (start, place, accounts) in batch.accounts {
            guard let index = minutes.lastIndex(where: { $0.start == start }) else { continue }
            var count = DistinctCount()
            let month = ActiveStretch.month.start(of: start)
            for account in accounts { count.add(hashes.hash(account, month: month)) }
            minutes[index].active[place, default: DistinctCount()].add(count)
        }
        for (start, requests) in batch.log {
            guard let index = minutes.lastIndex(where: { $0.start == start }) else { continue }
            minutes[index].log += requests.map { request in
                guard request.isKnown else { return LogEntry(request, user: 0) }
                let user = pseudonyms.pseudonym(of: request.account, in: request.key.container, at: request.time)
                return LogEntry(request, user: user)
            }
        }
        return minutes
    }
}

extension LogEntry {
    fileprivate init(_ request: LoggedRequest, user: UInt32) {
        self.init(
            time: request.time, kind: request.kind, key: request.key, microseconds: request.microseconds,
            bytesIn: request.bytesIn, bytesOut: request.bytesOut, refusedItems: Int64(request.refusedItems), user: user,
            request: request.request, groupID: request.groupID)
    }
}
