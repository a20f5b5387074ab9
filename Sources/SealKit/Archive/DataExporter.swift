import Foundation
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Writes one zone of an archive, page by page: a zone's by its change feed, of the public database what this user has
/// made there. It holds a page at a time, and 8 bytes for each record.
struct DataExporter {
    typealias Outcome = (entry: ArchiveFormat.Manifest.Zone, failures: [Record.ID: SealKitError])

    let database: Database
    let zoneID: RecordZone.ID
    let writer: ExportFolder
    /// Below the archive.
    let folder: String
    let progress: @Sendable (_ records: Int, _ assets: Int) -> Void

    private(set) var records = 0
    private(set) var assets = 0
    private var zone = ArchiveFormat.Zone()
    private var shares: Set<Record.ID> = []
    private var failures: [Record.ID: SealKitError] = [:]
    /// Of the names that have a line. Two names with one hash are both taken for repeated, which is no harm.
    private var written: Set<Int> = []

    init(
        database: Database, zoneID: RecordZone.ID, writer: ExportFolder, folder: String,
        progress: @escaping @Sendable (_ records: Int, _ assets: Int) -> Void
    ) {
        self.database = database.fetchingAssets(.onDemand).readingAhead()
        (self.zoneID, self.writer, self.folder, self.progress) = (zoneID, writer, folder, progress)
    }

    mutating func run() async throws(SealKitError) -> Outcome {
        let lines = try begin()
        let reader = FeedReader(isWhole: true)
        var token: ServerChangeToken?
        var isMore = true
        while isMore {
            let changes = try await database.unmarkedChanges(inZoneWith: zoneID, since: token, reader)
            for (id, result) in changes.modifications { try await add(id, result, to: lines) }
            for (id, _) in changes.deletions { failures[id] = nil }
            for (id, type) in changes.deletions where written.contains(id.recordName.hashValue) {
                zone.repeated.append(id.recordName)
                try write(ArchiveFormat.Record(recordName: id.recordName, recordType: type, deleted: true), to: lines)
            }
            guard failures.count <= Database.mostUnreadable else { throw Database.endless(zoneID) }
            token = changes.changeToken
            isMore = changes.moreComing
            progress(records, assets)
        }
        for share in shares.sorted(by: { $0.recordName < $1.recordName }) {
            // One that ended meanwhile is no share of the zone any more.
            do throws(SealKitError) {
                zone.shares.append(.init(try await database.share(withID: share)))
            } catch let error where error.code == .unknownItem {}
        }
        return try finish(lines)
    }

    /// - Returns: nil where this user has made nothing in the public database: then nothing is written.
    mutating func runPublic() async throws(SealKitError) -> Outcome? {
        var page = try await database.createdRecords(after: "")
        guard !page.results.isEmpty else { return nil }
        let lines = try begin()
        while true {
            for (id, result) in page.results { try await add(id, result, to: lines) }
            guard failures.count <= Database.mostUnreadable else {
                throw SealKitError(
                    .serverRejectedRequest,
                    "the server names more than \(Database.mostUnreadable) records of the public database that this account cannot read",
                    remedy: "try again; distrust a server that keeps doing so")
            }
            progress(records, assets)
            guard page.moreComing, let last = page.results.last else { break }
            page = try await database.createdRecords(after: last.0.recordName)
        }
        return try finish(lines)
    }

    private func begin() throws(SealKitError) -> ArchiveFile {
        try writer.makeFolder("\(folder)/\(ArchiveFormat.assets)")
        return try writer.begin("\(folder)/\(ArchiveFormat.records)")
    }

    private mutating func finish(_ lines: ArchiveFile) throws(SealKitError) -> Outcome {
        zone.unreadable = failures.sorted { $0.key.recordName < $1.key.recordName }.map { id, error in
            .init(recordName: id.recordName, code: error.code.rawValue, reason: error.reason)
        }
        let about = try writer.begin("\(folder)/\(ArchiveFormat.zone)")
        try about.write(try ExportFolder.json(zone))
        let sums = [ArchiveFormat.records: try lines.finish(), ArchiveFormat.zone: try about.finish()]
        let owner =
            database.scope == .public
            ? UserID(.zero).recordName : zoneID.isCurrentUsers ? database.core.userID().recordName : zoneID.ownerName
        let entry = ArchiveFormat.Manifest.Zone(
            folder: folder, zoneName: zoneID.zoneName, ownerName: owner, database: .init(database.scope),
            records: records,
            assets: assets, sums: sums)
        return (entry, failures)
    }

    private mutating func add(
        _ id: Record.ID, _ result: Result<Record, SealKitError>, to lines: ArchiveFile
    ) async throws(SealKitError) {
        let record: Record
        switch result {
        case .success(let found): record = found
        case .failure(let error):
            failures[id] = error
            return
        }
        // It was mended while the zone was read.
        failures[id] = nil
        guard record.recordType != Share.recordType else {
            shares.insert(id)
            return
        }
        var line = ArchiveFormat.Record(recordName: id.recordName, recordType: record.recordType)
        line.parent = record.parent?.recordName
        line.share = record.share?.recordName
        line.created = record.creationDate.map(DateText.text)
        line.modified = record.modificationDate.map(DateText.text)
        line.creator = record.creatorUserRecordID?.recordName
        line.lastModifiedBy = record.lastModifiedUserRecordID?.recordName
        let before = assets
        for (key, state) in record.fields {
            switch state {
            case .plain(let value): line.fields[key] = ArchivedField(content: .value(value))
            case .encrypted(let value): line.fields[key] = ArchivedField(content: .value(value), isEncrypted: true)
            case .asset(let asset):
                do throws(SealKitError) {
                    line.fields[key] = ArchivedField(content: .asset(try await fetch(asset, of: id)))
                } catch let error where error.code == .integrityFailure || error.code == .assetNotAvailable {
                    // Whoever may write can sign for a file that there is not: that takes nothing else away.
                    for number in before..<assets { writer.remove(path(ofAsset: number + 1)) }
                    assets = before
                    failures[id] = error
                    return
                }
            case .omitted:
                throw SealKitError(.serverRejectedRequest, "the server left out fields of record \(id.recordName)")
            }
        }
        try write(line, to: lines)
        if !written.insert(id.recordName.hashValue).inserted { zone.repeated.append(id.recordName) }
        records += 1
    }

    private func path(ofAsset number: Int) -> String { "\(folder)/\(ArchiveFormat.assets)/\(number)" }

    private func write(_ line: ArchiveFormat.Record, to lines: ArchiveFile) throws(SealKitError) {
        try lines.write(try ExportFolder.json(line))
    }

    private mutating func fetch(_ asset: Asset, of id: Record.ID) async throws(SealKitError) -> ArchivedAsset {
        assets += 1
        let path = path(ofAsset: assets)
        let file = writer.url(path)
        do throws(SealKitError) { try await database.download(asset, of: id, to: file) } catch
            where error.code == .storageFull
        {
            // By its place in the archive: the folder that it was in is gone when somebody reads this.
            throw writer.unwritten(path, isFull: true)
        }
        return try writer.sum(ofAsset: "\(assets)", at: file)
    }
}
