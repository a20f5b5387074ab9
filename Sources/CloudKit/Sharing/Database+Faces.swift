import SealKit

/// What SealKit gives as the objects that apps have: each record of a share is a `CKShare`, wherever it comes out.
extension SealKit.Database {
    /// From the roster that the record was verified with: no request.
    /// - Throws: `unknownItem` for the record of a share that has ended meanwhile.
    func face(of record: SealKit.Record) async throws(SealKitError) -> CKRecord {
        try await face(of: record) { () async throws(SealKitError) in try await self.share(describedBy: record) }
    }

    /// The same of a record that was asked for by its ID: a share's has its URLs, and who asks for access.
    func wholeFace(of record: SealKit.Record) async throws(SealKitError) -> CKRecord {
        try await face(of: record) { () async throws(SealKitError) in try await self.share(withID: record.recordID) }
    }

    private func face(
        of record: SealKit.Record, _ share: () async throws(SealKitError) -> SealKit.Share
    ) async throws(SealKitError) -> CKRecord {
        guard record.isOfShare else { return CKRecord(record) }
        do throws(SealKitError) { return CKShare(try await share()) } catch {
            // The public database has no shares: what goes by that type there is a record.
            guard error.code == .badDatabase else { throw error }
            return CKRecord(record)
        }
    }

    func faces(
        of results: [(SealKit.Record.ID, Result<SealKit.Record, SealKitError>)], _ core: ContainerCore
    ) async -> [(CKRecord.ID, Result<CKRecord, CKError>)] {
        var faces: [(CKRecord.ID, Result<CKRecord, CKError>)] = []
        faces.reserveCapacity(results.count)
        var plain = PlainFaces()
        for (id, result) in results {
            do throws(SealKitError) {
                let record = try result.get()
                let face = record.isOfShare ? try await face(of: record) : plain.face(of: record)
                faces.append((face.recordID, .success(face)))
            } catch {
                faces.append((plain.id(id), .failure(await face(of: error, core))))
            }
        }
        return faces
    }

    /// With what the server has as a share, where it is one's.
    func face(of error: SealKitError, _ core: ContainerCore) async -> CKError {
        guard let record = error.serverRecord, record.isOfShare,
            // The conflict is what has to be told, also where the share has ended meanwhile.
            let share = try? await face(of: record)
        else { return core.words(error) }
        return core.words(error, adding: [CKRecordChangedErrorServerRecordKey: share])
    }
}

extension SealKit.Record {
    var isOfShare: Bool { recordType == SealKit.Share.recordType }
}

/// Makes the objects of many records that are no share's: those of one zone have its ID in common.
struct PlainFaces {
    private var zoneID = CKRecordZoneID.default

    mutating func id(_ sealed: SealKit.Record.ID) -> CKRecordID {
        if zoneID.sealed != sealed.zoneID { zoneID = CKRecordZoneID(sealed.zoneID) }
        return CKRecordID(sealed, in: zoneID)
    }

    mutating func face(of record: SealKit.Record) -> CKRecord {
        CKRecord(RecordBox(record, recordID: id(record.recordID)))
    }
}
