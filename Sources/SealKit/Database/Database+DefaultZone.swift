import SealClient
import SealStatements
import SealWire
import SwiftProtobuf

/// The default zone is there without being made, as in CloudKit: its first writer opens it.
extension Database {
    /// The zone as its writer needs it.
    /// - Throws: `zoneNotFound`; `userDeletedZone` for a zone that its user purged.
    func viewForWriting(_ keeper: ZoneKeeper, _ zoneID: RecordZone.ID) async throws(SealKitError) -> ZoneView {
        do throws(SealKitError) {
            let view = try await keeper.current()
            guard view.roster.isClosed else { return view }
            // It may have been made again meanwhile; why it was closed, the server knows.
            let newer = try await keeper.refresh()
            guard newer.roster.isClosed else { return newer }
            if !isDefault(zoneID) { throw try await reasonGone(zoneID) }
        } catch {
            guard error.code == .zoneNotFound, isDefault(zoneID) else { throw error }
        }
        _ = try await save(RecordZone(zoneID: zoneID))
        return try await keeper.current()
    }

    func isDefault(_ zoneID: RecordZone.ID) -> Bool { scope == .private && zoneID.zoneName == RecordZone.defaultName }

    private func reasonGone(_ zoneID: RecordZone.ID) async throws(SealKitError) -> SealKitError {
        let request = Sealkit_V1_ModifyRecordsRequest.with {
            $0.operationID = newOperationID()
            $0.zone = RecordZone.ID.wire(zoneID)
        }
        do {
            let _: Sealkit_V1_ModifyRecordsResponse = try await core.call(scope, Endpoints.records.modify, request)
            return SealKitError(.zoneNotFound, "there is no zone \(zoneID)")
        } catch let error where [.zoneNotFound, .userDeletedZone].contains(error.code) {
            return error
        }
    }
}

extension RecordZone.ID {
    fileprivate static func wire(_ id: RecordZone.ID) -> Sealkit_V1_ZoneID {
        .with {
            $0.zoneName = id.zoneName
            $0.ownerName = id.isCurrentUsers ? "" : id.ownerName
        }
    }
}
