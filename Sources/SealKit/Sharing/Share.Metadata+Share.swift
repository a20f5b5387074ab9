import SealClient
import SealStatements

extension Share.Metadata {
    /// The share as its verified roster shows it to whoever has its URL: CloudKit's `CKShare.Metadata.share`. Its
    /// title, type and thumbnail are those of ``preview``; addresses, URLs and the app's own fields are not for whoever
    /// has not accepted.
    public var share: Share {
        let roster = opening.roster
        let name = roster.scope.shareRecordName
        var share =
            hierarchicalRootRecordID.map {
                Share(rootRecordID: $0, shareID: Record.ID(recordName: name, zoneID: zoneID))
            } ?? Share(recordZoneID: zoneID)
        share.title = title
        share.shareType = shareType
        share.thumbnailImageData = thumbnailImageData
        share.asRead = share.preview
        share.participants = Share.Participant.all(of: roster) { _ in nil }
        share.saved = share.participants
        share.publicPermission = .init(roster.publicSeat?.permission)
        share.edits.publicPermission = share.publicPermission
        return share
    }
}
