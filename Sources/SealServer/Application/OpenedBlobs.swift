import SealService
import SealStorage

/// The store of a server's blobs, where its settings say.
enum OpenedBlobs {
    /// Opens it, and notes in the database where it is. A place that is another one than before has to have the newest
    /// blobs: nobody serves a database without them by mistake. Beside other servers it is theirs.
    /// - Parameter firstRun: of the database, which no other has.
    /// - Throws: `ConfigurationError`, `BlobStoreError`, `FileError`, or the database's error.
    static func open(
        _ configuration: ServerConfiguration, database: any SQLDatabase, firstRun: Int64
    ) async throws -> any BlobStore {
        let known = try await database.read { try BlobPlace(of: $0) }
        let (blobs, name) = try await store(configuration, known, database, firstRun)
        do {
            guard known.name != name else { return blobs }
            guard try await known.isCovered(by: blobs) else {
                throw ConfigurationError.blobsMissing(place: name ?? folder, noted: known.name ?? folder)
            }
            try await database.write(at: .everything) { connection in
                guard try connection.processes().isEmpty else {
                    throw try elsewhere(name, noted: BlobPlace.noted(in: connection))
                }
                try BlobPlace.note(name, in: connection)
            }
            return blobs
        } catch {
            await blobs.close()
            throw error
        }
    }

    private static let folder = "the data folder"

    /// Once others see this server: whoever starts later goes by its place, and whoever started at the same time may
    /// have noted another one.
    /// - Throws: `ConfigurationError`.
    static func confirm(_ configuration: ServerConfiguration, database: any EngineDatabase) async throws {
        let name = try configuration.blobs?.place().name
        let own = database.peers.own
        var pauses = Peers.patience[...]
        while true {
            let (noted, isAlone) = try await database.write(at: .everything) { connection in
                (try BlobPlace.noted(in: connection), try connection.processes().subtracting([own]).isEmpty)
            }
            // A folder is of one server alone.
            if noted == name, name != nil || isAlone { return }
            guard let pause = pauses.popFirst() else { throw elsewhere(name, noted: noted) }
            try await Task.sleep(for: pause)
        }
    }

    private static func elsewhere(_ name: String?, noted: String?) -> ConfigurationError {
        .blobsElsewhere(place: name ?? folder, noted: noted ?? folder)
    }

    private static func store(
        _ configuration: ServerConfiguration, _ known: BlobPlace, _ database: any SQLDatabase, _ firstRun: Int64
    ) async throws -> (blobs: any BlobStore, name: String?) {
        let folder = configuration.dataFolder + "/blobs"
        // With a store too: whoever copies the data folder by PostgreSQL's commands holds it all the same.
        try BlobHold.prepare(for: folder)
        guard let given = configuration.blobs else { return (try FolderBlobStore(folder: folder), nil) }
        let place = try given.place()
        let blobs = try await S3BlobStore.open(
            place, credentials: { try given.signer() }, owner: "\(firstRun)",
            mayBegin: { store in
                // Servers that run have marked theirs: this is another one of that name.
                guard try await database.read({ try $0.processes() }).isEmpty else {
                    throw elsewhere(place.name, noted: known.name)
                }
                // A database without blobs begins where there are none.
                guard !known.newest.isEmpty else { return try await store.blobs(after: nil).entries.isEmpty }
                return try await known.isCovered(by: store)
            })
        return (blobs, place.name)
    }
}
