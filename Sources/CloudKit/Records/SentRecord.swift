import SealKit

/// One of a batch: the app's object, and what of it is sent.
enum SentRecord: Sendable {
    case record(CKRecord, RecordBox.Sent)
    case share(CKShare, CKShare.Sent)

    /// What is sent of it now.
    /// - Throws: where somebody whom a share invites cannot be looked up; `invalidArguments` for a participant's role
    ///   or permission that there is not.
    init(_ record: CKRecord, _ core: ContainerCore) async throws(SealKitError) {
        guard let share = record as? CKShare else {
            self = .record(record, record.box.sent())
            return
        }
        try await Self.findKeys(for: share, core)
        self = .share(share, try share.sent())
    }

    var savable: any SavableRecord {
        switch self {
        case .record(_, let sent): sent.record
        case .share(_, let sent): sent.share
        }
    }

    /// Why nothing of it can be stored.
    var refusal: SealKitError? {
        switch self {
        case .record(_, let sent): sent.refusal
        case .share(_, let sent): sent.fields.refusal
        }
    }

    /// What was stored, taken over by the object that the app has.
    /// - Returns: that object; another one for a root's own share, which is there under another name.
    func taking(_ stored: any SavableRecord) -> CKRecord {
        switch self {
        case .record(let record, let sent):
            if let stored = stored as? SealKit.Record { record.box.take(stored, of: sent) }
            return record
        case .share(let share, let sent):
            guard let stored = stored as? SealKit.Share else { return share }
            guard stored.recordID == share.recordID.sealed else { return CKShare(stored) }
            share.take(stored, of: sent)
            return share
        }
    }

    /// Looks up whom an archived share is to invite.
    private static func findKeys(for share: CKShare, _ core: ContainerCore) async throws(SealKitError) {
        for participant in share.participantsWithoutKeys {
            let identity = participant.sealed.userIdentity
            let name = identity.userRecordID.map { SealKit.Share.LookupInfo.userRecordName($0.recordName) }
            guard let lookupInfo = name ?? identity.lookupInfo else { continue }
            participant.take(keysOf: try await core.container().shareParticipant(for: lookupInfo))
        }
    }
}
