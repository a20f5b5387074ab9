public import Foundation
import SealPrimitives
import SealStatements

extension Database {
    /// Begins to download a fetched asset, for as long as it takes, whatever becomes of this process
    /// (<doc:LongLived>): ``LongLivedDownload/result(progress:)`` does that, in this process or in a later one, and
    /// goes on where it was cut off.
    ///
    /// - Parameters: as of ``download(_:of:to:replaces:progress:)``. Until it is whole the file has another name beside
    ///   its own.
    /// - Throws: `invalidArguments` for a container without a journal; `assetNotAvailable` for an asset that was not
    ///   saved; `limitExceeded` for more than the journal holds; `storageFull`.
    public func beginDownload(
        _ asset: Asset, of recordID: Record.ID, to file: URL
    ) async throws(SealKitError) -> LongLivedDownload {
        let remote = try Database.stored(asset).of(recordID)
        let file = file.absoluteURL
        let (rows, input) = try await begin(.download(remote, to: file))
        return LongLivedDownload(database: self, rows: rows, input: input, remote: remote, file: file)
    }
}

/// A download that was begun, with `Database.beginDownload(_:of:to:)`, and goes on until the file is there.
public struct LongLivedDownload: Sendable {
    /// The one that it was begun in, for whoever is signed in now.
    public let database: Database
    /// Where the file will be.
    public let file: URL
    private let remote: Asset.Remote
    private let rows: OperationRows
    private let input: JournaledInput

    init(database: Database, rows: OperationRows, input: JournaledInput, remote: Asset.Remote, file: URL) {
        (self.database, self.rows, self.input) = (database, rows, input)
        (self.remote, self.file) = (remote, file)
    }

    /// The same in every process; of this device alone.
    public var operationID: String { rows.id.hex }

    /// When it was begun, by this device's clock.
    public var started: Date { Date(microseconds: input.started) }

    /// What it goes by in every process, unless it is called inside of a `configuredWith`: what the call went by that
    /// began it. Nil for CloudKit's defaults.
    public var configuration: OperationConfiguration? { input.configuration }

    /// The record that the asset belongs to.
    public var recordID: Record.ID { remote.recordID }

    /// What has come so far. Its name tells nothing of the asset.
    private var part: URL { Self.part(of: file, rows.id) }

    static func part(of file: URL, _ id: ID16) -> URL {
        file.deletingLastPathComponent().appendingPathComponent(
            ".\(file.lastPathComponent).sealkit-\(id.hex.prefix(8))")
    }

    /// Does what is left of it.
    ///
    /// What lies on the disk is not believed: each chunk is sealed again and held against the leaves that were signed
    /// for, and fetched again where it differs.
    /// - Parameter progress: bytes that are there so far, and of all.
    /// - Returns: the file, under its name.
    /// - Throws: what keeps it from going on for now, such as `networkFailure` or `operationCancelled`: ask again
    ///   later. `integrityFailure` at the first wrong byte; `assetNotAvailable` where the asset is gone;
    ///   `constraintViolation` while it is under way already; `storageFull`.
    public func result(
        progress: (@Sendable (_ received: Int64, _ total: Int64) -> Void)? = nil
    ) async throws(SealKitError) -> URL {
        try rows.journal.claim(rows.id)
        defer { rows.journal.release(rows.id) }
        try database.core.requireAccess(to: database.scope)
        let isBegun = FileManager.default.fileExists(atPath: part.path)
        if !isBegun, FileManager.default.fileExists(atPath: file.path),
            try remote.content.isMade(of: AssetFile(file))
        {
            return file
        }
        try await OperationContext.goingOn(by: configuration) { () async throws(SealKitError) in
            try await database.core.witnessing(zone: recordID.zoneID, record: recordID.recordName) {
                () async throws(SealKitError) in
                try await database.fetch(
                    remote, of: recordID, into: PartFile(file, goingOnWith: part), progress: progress)
            }
        }
        return file
    }

    /// Forgets it, and what has come of a file that is not whole; the file under its name stays.
    /// - Throws: `internalError`, `storageFull` where the journal cannot be written.
    public func end() async throws(SealKitError) {
        try await rows.journal.remove(rows.id)
        try? FileManager.default.removeItem(at: part)
    }
}

extension Asset.Remote {
    /// The same as one of this record, which a copy in another zone's name may be.
    fileprivate func of(_ recordID: Record.ID) -> Asset.Remote {
        Asset.Remote(content: content, blob: blob, recordID: recordID, key: key, author: author)
    }
}
