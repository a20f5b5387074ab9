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
        guard record.recordType == SealKit.Share.recordType else { return CKRecord(record) }
        do throws(SealKitError) { return CKShare(try await share()) } catch {
            // The public database has no shares: what goes by that type there is a record.
            guard error.code == .badDatabase else { throw error }
            return CKRecord(record)
        }
    }

    func face(of result: Result<SealKit.Record, SealKitError>, _ core: ContainerCore) async -> Result<CKRecord, CKError>
    {
        do throws(SealKitError) { return .success(try await face(of: try result.get())) } catch {
            return .failure(await face(of: error, core))
        }
    }

    func faces(
        of results: [(SealKit.Record.ID, Result<SealKit.Record, SealKitError>)], _ core: ContainerCore
    ) async -> [(CKRecord.ID, Result<CKRecord, CKError>)] {
        var faces: [(CKRecord.ID, Result<CKRecord, CKError>)] = []
        faces.reserveCapacity(results.count)
        for (id, result) in results { faces.append((CKRecordID(id), await face(of: result, core))) }
        return faces
    }

    /// With what the server has as a share, where it is one's.
    func face(of error: SealKitError, _ core: ContainerCore) async -> CKError {
        guard let record = error.serverRecord, record.recordType == SealKit.Share.recordType,
            // The conflict is what has to be told, also where the share has ended meanwhile.
            let share = try? await face(of: record)
        else { return core.words(error) }
        return core.words(error, adding: [CKRecordChangedErrorServerRecordKey: share])
    }
}
