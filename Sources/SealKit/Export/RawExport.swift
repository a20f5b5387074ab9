public import Foundation
import NIOCore
import NIOFoundationCompat
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
        public let assets: Int
        /// Of the rosters.
        public let entries: Int
        /// How many folders were removed that exports to the same place had left beside it when they were killed.
        public let removedParts: Int
    }

    /// Writes a zone's records as they are stored and sealed, with the rosters of all its scopes, this account's grants and the
    /// assets' sealed bytes: for checking real data with another implementation (FILES.md, "Raw export"). Nothing in the
    /// folder is secret. Of the public database: the records that are named, their authors' identities and the assets' bytes.
    ///
    /// Everything is verified and opened on the way; the first record that does not hold ends the export.
    /// - Parameters:
    ///   - recordNames: nil for all records of a zone, deletions included.
    ///   - folder: made here, whole or not at all; it must not exist.
    /// - Throws: `invalidArguments` for the public database without names; `constraintViolation` when the folder exists; `unknownItem` for a record that is not there;
    ///   `integrityFailure`, `rollback`; `internalError` or `storageFull` where it cannot be written.
    public func exportRaw(
        _ zoneID: RecordZone.ID, recordNames: [String]? = nil, to folder: URL
    ) async throws(SealKitError) -> RawExport {
        let writer = try ExportFolder(folder)
        do {
            var content: RawExportContent
            let records: [Verified]
            if scope == .public {
                (records, content) = try await publicRecords(zoneID, recordNames: recordNames)
            } else {
                // What is on its way from one scope into another arrives first.
                if scope == .private { try await settleShares(in: zoneID) }
                let ground: ZoneGround
                (records, ground) = try await verifiedRecords(zoneID, recordNames: recordNames)
                content = RawExportContent(zone: ground.zone, user: core.userID())
                for view in ground.views.values.sorted(by: { $0.scope.shareRecordName < $1.scope.shareRecordName }) {
                    let tail = try await core.keeper(of: view.scope).everything()
                    let hasLinks = scope == .private && !view.roster.isClosed
                    content.add(view, tail, shares: hasLinks ? try await rawShares(view) : [])
                }
            }
            for record in records { try await add(record, of: zoneID, to: &content, writer: writer) }
            try writer.finish(content, as: "export.json")
            return RawExport(
                records: records.count, assets: content.assets.count, entries: content.entries, removedParts: writer.removedParts)
        } catch {
            writer.abandon()
            throw error
        }
    }

    typealias Verified = (wire: Sealkit_V1_Record, outcome: RecordReader.Outcome)

    /// Every record of the zone, or those asked for, as they came and as they opened.
    private func verifiedRecords(
        _ zoneID: RecordZone.ID, recordNames: [String]?
    ) async throws(SealKitError) -> ([Verified], ZoneGround) {
        let wanted = recordNames.map { Set($0) }
        var ground = try await refreshed(try await zoneGround(zoneID))
        // A record that changes while the feed is read comes again: the later one counts.
        var newest: [String: Verified] = [:]
        var token = Data()
        var isMore = true
        while isMore {
            let request = Sealkit_V1_RecordChangesRequest.with {
                $0.zone = ground.zone.zoneIDOnWire
                $0.token = token
            }
            ground.asked = try await core.trust.moment()
            let response: Sealkit_V1_RecordChangesResponse = try await core.call(scope, "records/changes", request)
            ground = try await ground.settled(by: response.scopes, core)
            let part = response.records.filter { wanted?.contains($0.recordName) ?? true }
            let outcomes = try await read(
                part.map { ($0, nil) }, zone: zoneID, desiredKeys: nil, ground: .zone(ground), asksAgain: false)
            var isOvertaken = false
            for (record, outcome) in zip(part, outcomes) {
                // What has left this account's shares, or is still on its way into them, is none of its own.
                if record.departed {
                    newest[record.recordName] = nil
                    continue
                }
                if !record.deleted, case .failure(let error) = outcome, error.code == .unknownItem { continue }
                // This device has written it meanwhile: that version comes later in the feed.
                if case .failure(let error) = outcome, error.code == .serverRecordChanged {
                    isOvertaken = true
                    continue
                }
                newest[record.recordName] = (record, try outcome.get())
            }
            token = response.token
            isMore = response.moreComing || isOvertaken
        }
        if let missing = wanted?.subtracting(newest.keys).min() {
            throw Database.unknown(Record.ID(recordName: missing, zoneID: zoneID))
        }
        return (newest.values.sorted { $0.wire.recordName < $1.wire.recordName }, ground)
    }

    private func add(
        _ record: Verified, of zoneID: RecordZone.ID, to content: inout RawExportContent, writer: ExportFolder
    ) async throws(SealKitError) {
        try verifying("record \(record.wire.recordName)") { () throws(SealError) in
            if record.wire.hasDerived {
                content.notices.append(try RawExportContent.Notice(record.wire))
            } else {
                content.records.append(try RawExportContent.Record(record.wire))
            }
        }
        guard case .record(let opened) = record.outcome else { return }
        for (field, state) in opened.fields.sorted(by: { $0.key < $1.key }) {
            guard case .asset(let asset) = state, let remote = asset.remote else { continue }
            let size = remote.sealed?.layout.blobBytes ?? remote.plain?.size ?? 0
            let file = "asset-\(content.assets.count).blob"
            let path = assetPath(of: remote.blob, in: try zoneScope(zoneID))
            let handle = try writer.create(file)
            defer { try? handle.close() }
            // Of no bytes there is no range to ask for.
            if size > 0 {
                try await core.account.download(path, range: 0..<size) { part in
                    try writer.write(Data(part.readableBytesView), to: handle)
                }
            }
            content.assets.append(.init(record: record.wire.recordName, field: field, file: file))
        }
    }

    private func rawShares(_ view: ZoneView) async throws(SealKitError) -> [RawExportContent.Share] {
        try await OwnerLinks.stored(self, view: view).links.filter { !$0.keptSecret.isEmpty }.map {
            .init(routingID: Hex.encode([UInt8]($0.routingID)), preview: $0.preview.isEmpty ? nil : Hex.encode([UInt8]($0.preview)))
        }
    }
}
