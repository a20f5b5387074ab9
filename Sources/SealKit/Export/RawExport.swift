public import Foundation
import NIOCore
import NIOFoundationCompat
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Database {
    /// What an export wrote.
    public struct RawExport: Sendable {
        /// Deletions included.
        public let records: Int
        /// How many files of assets were written, sealed as they are.
        public let assets: Int
        /// Of the rosters.
        public let entries: Int
        /// How many folders were removed that exports to the same place had left beside it when they were killed.
        public let removedParts: Int
        /// Records that are not in it, and why: whoever signed them made them such that they, or their files, do not
        /// open.
        public let failures: [Record.ID: SealKitError]
    }

    /// Writes a zone's records as they are stored and sealed, with the rosters of all its scopes, this account's grants
    /// and the assets' sealed bytes: for checking real data with another implementation (FILES.md, "Raw export").
    /// Nothing in the folder is secret. Of the public database: the records that are named, their authors' identities
    /// and the assets' bytes.
    ///
    /// Everything is verified and opened on the way. A record that verifies and does not open is its author's doing,
    /// and is left out; the first one that does not verify ends the export.
    /// - Parameters:
    ///   - zoneID: of the zone.
    ///   - recordNames: nil for all records of a zone, deletions included.
    ///   - folder: made here, whole or not at all; it must not exist.
    /// - Throws: `invalidArguments` for the public database without names; `constraintViolation` when the folder
    ///   exists; `unknownItem` for a record that is not there; `integrityFailure`, `rollback`; `internalError` or
    ///   `storageFull` where it cannot be written.
    public func exportRaw(
        _ zoneID: RecordZone.ID, recordNames: [String]? = nil, to folder: URL
    ) async throws(SealKitError) -> RawExport {
        let writer = try ExportFolder(folder)
        do {
            var content: RawExportContent
            let records: [Verified]
            var failures: [Record.ID: SealKitError]
            if scope == .public {
                (records, failures, content) = try await publicRecords(zoneID, recordNames: recordNames)
            } else {
                let ground: ZoneGround
                (records, failures, ground) = try await verifiedRecords(zoneID, recordNames: recordNames)
                content = RawExportContent(zone: ground.zone, user: core.userID())
                for view in ground.views.values.sorted(by: { $0.scope.shareRecordName < $1.scope.shareRecordName }) {
                    let whole = try await core.keeper(of: view.scope).everything()
                    // Whoever opened a key may have given out bad grants: they open nothing for anybody.
                    let grants = whole.grants.filter { opens($0, view.roster) }
                    let hasLinks = scope == .private && !view.roster.isClosed
                    content.add(view, whole.entries, grants, shares: hasLinks ? try await rawShares(view) : [])
                }
            }
            for record in records {
                do throws(SealKitError) {
                    try await add(record, of: zoneID, to: &content, writer: writer)
                } catch let error where error.code == .integrityFailure || error.code == .assetNotAvailable {
                    let name = record.wire.recordName
                    failures[Record.ID(recordName: name, zoneID: zoneID)] = await core.noted(
                        error, zone: zoneID, record: name)
                }
            }
            try writer.finish(content, as: "export.json")
            return RawExport(
                records: content.records.count + content.notices.count, assets: content.assets.count,
                entries: content.entries,
                removedParts: writer.removedParts, failures: failures)
        } catch {
            writer.abandon()
            throw error
        }
    }

    typealias Verified = (wire: Sealkit_V1_Record, outcome: RecordReader.Outcome)

    private func opens(_ grant: OwnGrant, _ roster: Roster) -> Bool {
        guard let epoch = roster.epoch(grant.epoch, incarnations: roster.incarnations) else { return true }
        return core.opens(grant, of: epoch)
    }

    /// Every record of the zone, or those asked for, as they came and as they opened; and those that do not open.
    private func verifiedRecords(
        _ zoneID: RecordZone.ID, recordNames: [String]?
    ) async throws(SealKitError) -> ([Verified], [Record.ID: SealKitError], ZoneGround) {
        var ground = try await refreshed(try await zoneGround(zoneID))
        // A record that changes while the feed is read comes again: the later one counts.
        var newest: [String: Verified] = [:]
        var failures: [Record.ID: SealKitError] = [:]
        func take(_ id: Record.ID, _ wire: Sealkit_V1_Record, _ outcome: RecordReader.Outcome) {
            if case .unopened(let there) = outcome {
                (newest[id.recordName], failures[id]) = (nil, there.error)
            } else {
                (newest[id.recordName], failures[id]) = ((wire, outcome), nil)
            }
        }
        func sorted() -> [Verified] { newest.values.sorted { $0.wire.recordName < $1.wire.recordName } }
        if let recordNames {
            let ids = Set(recordNames).map { Record.ID(recordName: $0, zoneID: zoneID) }
            for one in try await find(ids, in: zoneID, from: .zone(ground), desiredKeys: nil).found {
                let outcome = try one.outcome.get()
                guard let wire = one.wire, !wire.departed else { throw Database.unknown(one.id) }
                take(one.id, wire, outcome)
            }
            return (sorted(), failures, try await refreshed(ground))
        }
        var overtaken: Set<Record.ID> = []
        let reader = FeedReader(isWhole: true)
        var token = Data()
        var isMore = true
        while isMore {
            let request = Sealkit_V1_RecordChangesRequest.with {
                $0.zone = ground.zone.zoneIDOnWire
                $0.token = token
            }
            ground.asked = try await core.trust.moment()
            let response: Sealkit_V1_RecordChangesResponse
            do { response = try await core.call(scope, Endpoints.records.changes, request) } catch {
                throw await confirmed(error, zoneID, known: RosterEnds(ground))
            }
            let came = reader.part(
                response.records, from: token, to: response.token, isMoreComing: response.moreComing)
            try reader.check(came)
            reader.take(came)
            ground = try await ground.settled(by: response.scopes, core)
            let outcomes = try await read(
                response.records, zone: zoneID, desiredKeys: nil, ground: .zone(ground),
                asksAgain: false)
            for (record, outcome) in zip(response.records, outcomes) {
                let id = Record.ID(recordName: record.recordName, zoneID: zoneID)
                // What has left this account's shares, or is still on its way into them, is none of its own.
                if record.departed {
                    newest[record.recordName] = nil
                    continue
                }
                if !record.deleted, case .failure(let error) = outcome, error.code == .unknownItem { continue }
                // This device has written it meanwhile: what it wrote is asked for.
                if case .failure(let error) = outcome, error.code == .serverRecordChanged {
                    overtaken.insert(id)
                    continue
                }
                take(id, record, try outcome.get())
            }
            token = response.token
            isMore = response.moreComing
            guard !isMore else { continue }
            var rest = try await find(Array(overtaken), in: zoneID, from: .zone(ground), desiredKeys: nil).found
            // What did not come is asked for: all that this device knows.
            rest += try await missing(from: reader, and: came, zoneID, desiredKeys: nil, in: ground)
            for one in rest {
                let outcome = try one.outcome.get()
                if let wire = one.wire, !wire.departed { take(one.id, wire, outcome) }
            }
        }
        return (sorted(), failures, ground)
    }

    private func add(
        _ record: Verified, of zoneID: RecordZone.ID, to content: inout RawExportContent, writer: ExportFolder
    ) async throws(SealKitError) {
        let assets = try await exported(record, of: zoneID, from: content.assets.count, writer)
        try verifying("record \(record.wire.recordName)") { () throws(SealError) in
            if record.wire.hasDerived {
                content.notices.append(try RawExportContent.Notice(record.wire))
            } else {
                content.records.append(try RawExportContent.Record(record.wire))
            }
        }
        content.assets += assets
    }

    /// A record's files, all of them or none.
    /// - Parameter count: of the files that are there.
    private func exported(
        _ record: Verified, of zoneID: RecordZone.ID, from count: Int, _ writer: ExportFolder
    ) async throws(SealKitError) -> [RawExportContent.Asset] {
        guard case .record(let opened) = record.outcome else { return [] }
        var assets: [RawExportContent.Asset] = []
        for (field, state) in opened.fields {
            guard case .asset(let asset) = state, let remote = asset.remote else { continue }
            let file = "asset-\(count + assets.count).blob"
            assets.append(.init(record: record.wire.recordName, field: field, file: file))
            do {
                try await copy(
                    remote, at: assetPath(Endpoints.assets.download.route, of: remote.blob, in: try zoneScope(zoneID)),
                    to: file, writer)
            } catch {
                for one in assets { writer.remove(one.file) }
                throw error
            }
        }
        return assets
    }

    private func copy(
        _ remote: Asset.Remote, at path: String, to file: String, _ writer: ExportFolder
    ) async throws(SealKitError) {
        let size = remote.sealed?.layout.blobBytes ?? remote.plain?.size ?? 0
        let handle = try writer.create(file)
        defer { try? handle.close() }
        // Of no bytes there is no range to ask for.
        if size > 0 {
            try await core.account.download(path, range: 0..<size) { part in
                try writer.write(Data(part.readableBytesView), to: handle)
            }
        }
        guard let sealed = remote.sealed else { return }
        try AssetOpener.check(sealed, remote, blob: writer.url(file))
    }

    private func rawShares(_ view: ZoneView) async throws(SealKitError) -> [RawExportContent.Share] {
        try await ShareLinks.stored(self, view: view).links.filter { !$0.keptSecret.isEmpty }.map {
            .init(
                routingID: Hex.encode([UInt8]($0.routingID)),
                preview: $0.preview.isEmpty ? nil : Hex.encode([UInt8]($0.preview)))
        }
    }
}
