public import SealStatements

/// A page of what a server answers who shows it a URL's routing id.
public struct SharePage: Sendable {
    public let place: SharePlace
    /// Of the roster, from the entry on that was asked for.
    public let entries: [SignedRosterEntry]
    /// Entries are left for another page.
    public let isMoreComing: Bool
    /// The seat that the caller may take; empty for a member.
    public let invitationID: [UInt8]
    /// The seat's, sealed.
    public let grant: [UInt8]
    public let preview: [UInt8]

    public init(
        place: SharePlace, entries: [SignedRosterEntry], isMoreComing: Bool, invitationID: [UInt8], grant: [UInt8],
        preview: [UInt8]
    ) {
        self.place = place
        self.entries = entries
        self.isMoreComing = isMoreComing
        self.invitationID = invitationID
        self.grant = grant
        self.preview = preview
    }

    public init(_ wire: Wire.ShareMetadataResponse) {
        self.init(
            place: SharePlace(wire), entries: wire.entries.map { SignedRosterEntry($0) }, isMoreComing: wire.moreComing,
            invitationID: wire.invitationID, grant: wire.grant?.sealed ?? [], preview: wire.preview)
    }
}
