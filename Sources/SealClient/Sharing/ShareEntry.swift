public import SealEnvelope

/// A roster entry with what goes to the server beside it.
public struct ShareEntry<H: HybridEncryption>: Sendable {
    public let draft: RosterAuthor<H>.Draft
    /// New URLs.
    public internal(set) var links: [Wire.Link] = []
    public internal(set) var sealedLinks: [Wire.SealedLink] = []
    public internal(set) var addresses: [Wire.PlaceholderAddress] = []

    public init(_ draft: RosterAuthor<H>.Draft) { self.draft = draft }
}
