import SealService
import SealStorage

/// The store of a server's blobs, where its settings say.
enum OpenedBlobs {
    /// Opens it, and notes in the database where it is. A place that is another one than before has to have the newest
    /// blobs: nobody serves a database without them by mistake.
    /// - Parameter firstRun: of the database, which no other has.
    /// - Throws: `ConfigurationError`, `BlobStoreError`, `FileError`, or the database's error.
    static func open(
        _ configuration: ServerConfiguration, database: any SQLDatabase, firstRun: Int64
    ) async throws -> any BlobStore {
        let known = try await database.read { try BlobPlace(of: $0) }
        let (blobs, name) = try await store(configuration, known, firstRun)
        do {
            guard known.name != name else { return blobs }
            let folder = "the data folder"
            guard try await known.isCovered(by: blobs) else {
                throw ConfigurationError.blobsMissing(place: name ?? folder, noted: known.name ?? folder)
            }
            try await database.write(at: .everything) { try BlobPlace.note(name, in: $0) }
            return blobs
        } catch {
            await blobs.close()
            throw error
        }
    }

    private static func store(
        _ configuration: ServerConfiguration, _ known: BlobPlace, _ firstRun: Int64
    ) async throws -> (blobs: any BlobStore, name: String?) {
        guard let given = configuration.blobs else {
            return (try FolderBlobStore(folder: configuration.dataFolder + "/blobs"), nil)
        }
        let place = try given.place()
        let blobs = try await S3BlobStore.open(
            place, credentials: { try given.signer() }, owner: "\(firstRun)",
            mayBegin: { store in
                // A database without blobs begins where there are none.
                guard !known.newest.isEmpty else { return try await store.blobs(after: nil).entries.isEmpty }
                return try await known.isCovered(by: store)
            })
        return (blobs, place.name)
    }
}
