public import Foundation
import SealKit

public let CKShareTitleKey = "cloudkit.title"
public let CKShareThumbnailImageDataKey = "cloudkit.thumbnailImageData"
public let CKShareTypeKey = "cloudkit.type"

/// A share: of a record with all that has it as parent, or of a zone as a whole.
///
/// It is a record, whose title, type and thumbnail are sealed and shown to whoever has the share's URL; other fields
/// are the app's own, sealed for those who are in the share. References and assets are what they are on each record.
/// Only the owner and administrators save a share.
open class CKShare: CKRecord, @unchecked Sendable {
    /// Names of what a share says of itself, by subscript.
    public enum SystemFieldKey {
        public static let title: CKRecord.FieldKey = CKShareTitleKey
        public static let thumbnailImageData: CKRecord.FieldKey = CKShareThumbnailImageDataKey
        /// A uniform type identifier.
        public static let shareType: CKRecord.FieldKey = CKShareTypeKey
    }

    private let content: Shared<Content>

    /// Shares a record: save the share together with it.
    public convenience init(rootRecord: CKRecord) {
        self.init(
            rootRecord: rootRecord,
            shareID: CKRecordID(recordName: "Share-" + UUID().uuidString, zoneID: rootRecord.recordID.zoneID))
    }

    /// - Parameters:
    ///   - rootRecord: shared with whatever has it as parent.
    ///   - shareID: in the zone of the record: another one is `invalidArguments` when the share is saved.
    public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        let share = SealKit.Share(rootRecord: rootRecord.box.record, shareID: shareID.sealed)
        content = Shared(Content(share, participants: [.ownerToBe()]))
        super.init(RecordBox(share.record, recordID: shareID))
    }

    /// Shares a zone as a whole. Where it is shared already saving takes over what is new in this one.
    public init(recordZoneID: CKRecordZone.ID) {
        let share = SealKit.Share(recordZoneID: recordZoneID.sealed)
        content = Shared(Content(share, participants: [.ownerToBe()]))
        super.init(RecordBox(share.record))
    }

    /// What SealKit gave, as an object of its own.
    init(_ share: SealKit.Share) {
        content = Shared(Content(share, participants: share.participants.map { CKShareParticipant($0) }))
        super.init(RecordBox(share.record))
    }

    private init(_ content: Content, _ box: RecordBox) {
        self.content = Shared(content)
        super.init(box)
    }

    // MARK: Participants

    /// The share's own objects: those that the caller may see, and at least the owner.
    open var participants: [CKShare.Participant] { content.value.participants }

    open var owner: CKShare.Participant {
        content.value.participants.first { $0.role == .owner } ?? CKShareParticipant.ownerToBe()
    }

    /// The caller, who is the owner of a share that was never saved; nil for whoever has not accepted.
    open var currentUserParticipant: CKShare.Participant? {
        let content = content.value
        guard let own = content.share.currentUserParticipant else {
            return content.isNew ? content.participants.first { $0.role == .owner } : nil
        }
        return content.participants.one(like: own)
    }

    /// Invites somebody, or gives whoever is in it already this one's permission; anew whoever was removed before. Save
    /// the share to apply it: while it is open to the public nobody can be invited by name.
    open func addParticipant(_ participant: CKShare.Participant) {
        content.withLock { $0.add(participant) }
    }

    /// Puts somebody out, or takes an invitation back. Save the share to apply it; nobody removes the owner.
    open func removeParticipant(_ participant: CKShare.Participant) {
        content.withLock { $0.remove(participant) }
    }

    /// What anybody with the URL may do. Changing it takes open invitations back; `none` puts out everybody who joined
    /// by the URL.
    open var publicPermission: CKShare.ParticipantPermission {
        get { .init(rawValue: content.value.share.publicPermission.rawValue) ?? .unknown }
        set {
            let permission = SealKit.Share.Participant.Permission(rawValue: newValue.rawValue)
            box.note(permission == nil ? .unknownPermission : nil, of: "publicPermission")
            if let permission { change { $0.publicPermission = permission } }
        }
    }

    /// With the secret after `#`: for the owner, and for administrators; nil until the share is saved, and for a share
    /// that came in a feed or a query: fetch it by its ID.
    open var url: URL? { content.value.share.url.flatMap { URL(string: $0) } }

    /// The URL for one participant, who was added as `CKShare.Participant.oneTimeURLParticipant()`, or by an address
    /// that is nobody's yet. It is there once the share is saved, for whoever added the participant.
    open func oneTimeURL(for participantID: CKShare.Participant.ID) -> URL? {
        content.value.share.oneTimeURL(for: participantID).flatMap { URL(string: $0) }
    }

    // MARK: Who asks for access

    /// Whether strangers with the URL may ask for access. Where not, they are not told that the share exists.
    open var allowsAccessRequests: Bool {
        get { content.value.share.allowsAccessRequests }
        set { change { $0.allowsAccessRequests = newValue } }
    }

    /// Who asked for access and waits: for the owner, and for administrators.
    open var requesters: [CKShare.AccessRequester] {
        content.value.share.requesters.map { CKShareAccessRequester($0) }
    }

    /// Who can neither join nor ask.
    open var blockedIdentities: [CKShare.BlockedIdentity] {
        content.value.share.blockedIdentities.map { CKShareBlockedIdentity($0) }
    }

    /// Refuses requests for access; whoever is denied may ask again. Save the share to apply it.
    open func denyRequesters(_ requesters: [CKShare.AccessRequester]) {
        let sealed = requesters.map(\.sealed)
        change { $0.denyRequesters(sealed) }
    }

    /// Refuses requests for good, and puts out whoever is in the share. Save the share to apply it.
    open func blockRequesters(_ requesters: [CKShare.AccessRequester]) {
        let sealed = requesters.map(\.sealed)
        change { $0.blockRequesters(sealed) }
        content.withLock { $0.removeAll(named: Set(sealed.compactMap { $0.userIdentity.userRecordID?.recordName })) }
    }

    /// Lets people ask and be invited again; it makes nobody a participant. Save the share to apply it.
    open func unblockIdentities(_ identities: [CKShare.BlockedIdentity]) {
        let sealed = identities.map(\.sealed)
        change { $0.unblockIdentities(sealed) }
    }

    private func change(_ key: String? = nil, _ body: @escaping @Sendable (inout SealKit.Share) -> Void) {
        content.withLock { $0.change(key, body) }
    }

    // MARK: Fields

    open override func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        let share = content.value.share
        switch key {
        case CKShareTitleKey: return share.title.isEmpty ? nil : NSString(string: share.title)
        case CKShareTypeKey: return share.shareType.isEmpty ? nil : NSString(string: share.shareType)
        case CKShareThumbnailImageDataKey: return share.thumbnailImageData.map { NSData(data: $0) }
        default: return box.object(key, isEncrypted: true) ?? box.object(key, isEncrypted: false)
        }
    }

    open override func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey) {
        set(object, key)
    }

    open override func setValue(_ value: Any?, forKey key: String) { set(value, key) }

    private func set(_ object: Any?, _ key: String) {
        switch key {
        case CKShareTitleKey: describe(key, object as? String, isGiven: object != nil) { $0.setTitle($1 ?? "") }
        case CKShareTypeKey: describe(key, object as? String, isGiven: object != nil) { $0.setShareType($1 ?? "") }
        case CKShareThumbnailImageDataKey:
            describe(key, object as? Data, isGiven: object != nil) { $0.setThumbnail($1) }
        default:
            // The server follows references, and assets are sealed anyway.
            let liesBeside = object is CKAsset || object is CKRecordReference || object is [CKRecordReference]
            box.set(object, key, isEncrypted: !liesBeside)
        }
    }

    private func describe<Value: Sendable>(
        _ key: String, _ value: Value?, isGiven: Bool,
        _ body: @escaping @Sendable (inout SealKit.Share, Value?) -> Void
    ) {
        guard value != nil || !isGiven else { return box.note(.noDescription, of: key) }
        box.note(nil, of: key)
        change(key) { body(&$0, value) }
    }

    open override func allKeys() -> [CKRecord.FieldKey] {
        let described = [CKShareTitleKey, CKShareTypeKey, CKShareThumbnailImageDataKey].filter {
            object(forKey: $0) != nil
        }
        return (box.allKeys(isEncrypted: true) + box.allKeys(isEncrypted: false) + described).sorted()
    }

    open override func changedKeys() -> [CKRecord.FieldKey] {
        let fields = Set(box.changedKeys(isEncrypted: true) + box.changedKeys(isEncrypted: false))
        return fields.union(content.value.changed).sorted()
    }

    /// Names only: neither title nor URL.
    open override var description: String {
        "<CKShare: recordID=\(recordID.recordName), participants: \(participants.count)>"
    }

    // MARK: Saving

    /// Those who are to be invited and whose keys an archive does not have.
    var participantsWithoutKeys: [CKShareParticipant] {
        let content = content.value
        return content.participants.filter { participant in
            participant.lacksKeys
                && !content.share.participants.contains { $0.participantID == participant.participantID }
        }
    }

    /// As a save would begin with it, for whoever only looks at it.
    var unsent: SealKit.Share {
        var share = content.value.unsent
        share.record = box.record
        return share
    }

    /// What one save sends.
    struct Sent: Sendable {
        let share: SealKit.Share
        let fields: RecordBox.Sent
        fileprivate let content: Content.Sent
    }

    /// What a save sends now.
    /// - Throws: `invalidArguments` for a participant's role or permission that there is not.
    func sent() throws(SealKitError) -> Sent {
        var (share, sent) = try content.withLock { content throws(SealKitError) in try content.sent() }
        let fields = box.sent()
        share.record = fields.record
        return Sent(share: share, fields: fields, content: sent)
    }

    /// Takes over what was stored. What the app has set since it was sent stays, to be sent by the next save, also
    /// where that has begun already: it may fail.
    func take(_ stored: SealKit.Share, of sent: Sent) {
        box.take(stored.record, of: sent.fields)
        content.withLock { $0.take(stored, of: sent.content) }
    }

    // MARK: Copies and archives

    open override func copy(with zone: NSZone? = nil) -> Any { CKShare(content.value.copied(), box.copied()) }

    /// From `encodeSystemFields(with:)` without fields, title, type and thumbnail: what is not set stays as it is when
    /// the share is saved.
    public required init?(coder: NSCoder) {
        guard let record = SealKit.Record(coder: coder), record.recordType == CKRecordTypeShare,
            let data = coder.bytes(ArchivedShare.key),
            let archived = try? JSONDecoder().decode(ArchivedShare.self, from: data),
            let content = Content(archived, record)
        else { return nil }
        self.content = Shared(content)
        super.init(RecordBox(record))
    }

    /// System fields and who is in the share, as it was fetched or saved last. The share's URLs are part of it, with
    /// their secrets: keep it where its reader may open the share.
    open override func encodeSystemFields(with coder: NSCoder) {
        super.encodeSystemFields(with: coder)
        encode(ArchivedShare(content.value, isWhole: false), coder)
    }

    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        encode(ArchivedShare(content.value, isWhole: true), coder)
    }

    private func encode(_ archived: ArchivedShare, _ coder: NSCoder) {
        guard let data = try? JSONEncoder().encode(archived) else { return }
        coder.encode(NSData(data: data), forKey: ArchivedShare.key)
    }
}

extension Refusal {
    fileprivate static let unknownPermission = Refusal(
        reason: "is no permission", remedy: "give none, readOnly or readWrite")
    fileprivate static let noDescription = Refusal(
        reason: "is of another class than a share's", remedy: "use a string for title and type, data for a thumbnail")
}
