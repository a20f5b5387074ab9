import CoreMetrics
import Logging
import SealService
import SealStorage
import SealSystem

/// A server's data folder, locked for this process, with everything that works on it: what is served on a socket
/// (`Server`) or to this process alone (`LocalServer`).
struct OpenedServer: Sendable {
    let services: Services
    private let lock: DataFolderLock

    /// Throws `ConfigurationError`, `DataFolderInUse`, `FileError`, `BlobStoreError`, or the database's error.
    /// - Parameters:
    ///   - metrics: get every measurement.
    ///   - replacing: what tests put in the place of the real thing.
    init(
        _ configuration: ServerConfiguration, webBundle: WebBundle?, logger: Logger,
        metrics factories: [any MetricsFactory],
        replacing: ServiceReplacements
    ) async throws {
        try OwnUser.requireOwn(servedFolder: configuration.dataFolder)
        try FreeSpace.requireForNew(configuration.dataFolder)
        try PrivateFiles.createFolder(at: configuration.dataFolder)
        lock = try DataFolderLock(folder: configuration.dataFolder)
        let address = try configuration.database?.address()
        let mark = DatabaseMark(in: configuration.dataFolder)
        try mark.require(address)
        let writeTimes = WriteTimes(logger: logger)
        let metrics = ServerMetrics(factories: factories)
        let budget = configuration.limits.writeBudget
        let opened = try Self.open(
            address, dataFolder: configuration.dataFolder,
            mostWaitingWrites: replacing.mostWaitingWrites ?? WriteBudget.defaultMostWaiting,
            budget: WriteBudget(
                limit: budget > 0 ? Int64(budget) * 1_000_000 : nil, clock: replacing.steadyClock ?? steadyClock,
                times: writeTimes,
                metrics: metrics),
            admit: Self.admission(address, mark, configuration))
        let secrets = try ServerSecrets(folder: configuration.secretsFolder)
        let fingerprints = try SecretFingerprints(folder: configuration.secretsFolder)
        let messengers =
            try replacing.messengers ?? Self.messengers(configuration, secrets, clock: replacing.clock ?? systemClock)
        metrics.observe(.writesWaiting) { [weak opened] in opened?.waitingWrites ?? 0 }
        metrics.observe(.servers) { [peers = opened.peers] in peers.count }
        metrics.observe(.readConnections) { [weak opened] in opened?.reads.open ?? 0 }
        metrics.observe(.readsRunning) { [weak opened] in opened?.reads.busy ?? 0 }
        metrics.observe(.readsWaiting) { [weak opened] in opened?.reads.waiting ?? 0 }
        metrics.observe(.residentBytes) { Int(clamping: residentBytes() ?? 0) }
        // At once: the allocator stops for it.
        metrics.observe([.heapUsed, .heapKept]) { Heap.now.map { [$0.used, $0.kept] } ?? [0, 0] }
        metrics.observe(.databaseMemory) { SQLiteDatabase.memoryUsed }
        metrics.observe(.dataFreeBytes) { Int(clamping: freeBytes(at: configuration.dataFolder) ?? 0) }
        let database = replacing.database?(opened) ?? opened
        let (now, random) = ((replacing.clock ?? systemClock)(), Int64.random(in: 0...Int64.max))
        let firstRun = try await opened.write(at: .everything) { connection in
            _ = try ShardedNumber.shard(of: connection)
            let first = try ServerRuns.begin(now: now, random: random, in: connection)
            try fingerprints.note(in: connection)
            if try connection.processes().isEmpty { try JobLease.releaseAll(in: connection) }
            return first
        }
        if let address { try mark.write(address, firstRun: firstRun) }
        // On a disk that is full the server can be read from all the same.
        try? BackupNote.begin(in: configuration.dataFolder)
        opened.whenReopened { [clock = replacing.clock ?? systemClock] connection in
            try ServerRuns.begin(now: clock(), random: Int64.random(in: 0...Int64.max), in: connection)
        }
        // Last of what can fail: it starts threads, which only `close()` ends.
        let blobs = try await OpenedBlobs.open(configuration, database: opened, firstRun: firstRun)
        services = Services(
            database: database, damage: opened.damage, peers: opened.peers, blobs: blobs, messengers: messengers,
            secrets: secrets,
            configuration: configuration, webBundle: webBundle, writeTimes: writeTimes, metrics: metrics,
            logger: logger, replacing: replacing)
        PushService.listen(
            to: database, streams: services.streams, webhooks: services.webhooks, jobs: services.jobs,
            sessions: services.sessions)
        do {
            try await opened.join()
            try await OpenedBlobs.confirm(configuration, database: opened)
        } catch {
            await close()
            throw error
        }
    }

    /// What a database has to be before anything of it is changed: the one that the data folder and the secrets go
    /// with.
    private static func admission(
        _ address: PostgresAddress?, _ mark: DatabaseMark, _ configuration: ServerConfiguration
    ) -> Admission {
        let name = address?.name ?? configuration.dataFolder + "/" + SQLiteDatabase.fileName
        let secrets = AdmittedSecrets(folder: configuration.secretsFolder)
        return { connection, isNew in
            if let address {
                try mark.require(address, firstRun: isNew ? 0 : try ServerRuns.first(in: connection))
            }
            if !isNew, let place = try StorageCopy.movedTo(connection) {
                throw ConfigurationError.databaseMoved(database: name, to: place)
            }
            try secrets.admit(connection, of: name, isNew: isNew)
        }
    }

    private static func open(
        _ address: PostgresAddress?, dataFolder: String, mostWaitingWrites: Int, budget: WriteBudget,
        admit: @escaping Admission
    ) throws -> any EngineDatabase {
        guard let address else {
            return try SQLiteDatabase(
                path: dataFolder + "/" + SQLiteDatabase.fileName, migrations: Migration.all,
                mostWaitingWrites: mostWaitingWrites, budget: budget, admit: admit)
        }
        return try PostgresDatabase(
            address, migrations: Migration.all, mostWaitingWrites: mostWaitingWrites, budget: budget, admit: admit)
    }

    /// Closes what `init` opened.
    func close() async {
        await services.outbox.close()
        await services.webhooks.close()
        await services.alertMessages.close()
        await services.jobs.release()
        await services.blobs.close()
        await services.telemetry.close()
        do {
            try await services.database.close()
        } catch {
            services.logger.error("the database did not close cleanly", metadata: ["error": "\(error)"])
        }
        lock.release()
    }

    private static func messengers(
        _ configuration: ServerConfiguration, _ secrets: ServerSecrets, clock: @escaping @Sendable () -> Int64
    ) throws -> [Address.Kind: any Messenger] {
        var messengers: [Address.Kind: any Messenger] = [:]
        if let mail = configuration.mail { messengers[.email] = try MailMessenger(configuration: mail) }
        if let sms = configuration.sms {
            messengers[.phone] = SMSMessenger(configuration: sms, keys: secrets.webhookKeys, clock: clock)
        }
        return messengers
    }
}
