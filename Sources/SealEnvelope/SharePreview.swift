public import SealPrimitives
public import SealStatements

/// What a share shows before it is accepted.
public struct SharePreview: Sendable, Hashable {
    public var title: String
    public var shareType: String
    public var thumbnail: [UInt8]

    public init(title: String, shareType: String = "", thumbnail: [UInt8] = []) {
        self.title = title
        self.shareType = shareType
        self.thumbnail = thumbnail
    }

    /// Whether a URL can show all of it: `Limits.previewBytes`, sealed.
    public var isShowable: Bool {
        let signed = SignedPreview(
            self, author: UserID(.zero), rosterSequence: 0, rosterHead: .zero, time: 0,
            signature: [UInt8](repeating: 0, count: SigningKey.signatureBytes))
        return Padding.pad(signed.canonicalBytes()).count + AEAD.overhead <= Limits.previewBytes
    }

    /// As much of it as a URL can show: without thumbnail, and of a title or type that are too long by themselves the
    /// beginning of the title.
    public var showable: SharePreview {
        if isShowable { return self }
        let described = SharePreview(title: title, shareType: shareType)
        if described.isShowable { return described }
        return SharePreview(title: String(title.unicodeScalars.prefix(Self.scalarsOfLongTitle)))
    }

    private static let scalarsOfLongTitle = 1_000
}

/// A preview with who says so: whoever has the URL can seal one, and the server can exchange it, so that it counts only
/// by the signature of somebody who administers the share.
public struct SignedPreview: Sendable, Hashable {
    public let preview: SharePreview
    /// The owner or an administrator.
    public let author: UserID
    /// The roster's head when the author signed: rights and key are judged there.
    public let rosterSequence: UInt64
    public let rosterHead: Digest
    /// The author's clock, microseconds since 1970; later than that of the preview whose place it takes.
    public let time: Int64
    public let signature: [UInt8]

    /// - Parameters:
    ///   - roster: the share's, as its author has verified it.
    ///   - key: the author's identity key in that roster.
    ///   - last: the one whose place it takes; clocks of two administrators need not agree.
    public init(
        _ preview: SharePreview, by author: UserID, key: SigningKey, on roster: Roster, time: Int64,
        after last: SignedPreview?
    ) {
        var time = time
        if let last, last.rosterSequence >= roster.sequence, last.time >= time {
            time = last.time == .max ? .max : last.time + 1
        }
        let message = SignedPreview.signedBytes(
            preview, scopeID: roster.scopeID, author: author, sequence: roster.sequence, head: roster.head, time: time)
        self.init(
            preview, author: author, rosterSequence: roster.sequence, rosterHead: roster.head, time: time,
            signature: key.sign(message))
    }

    /// What somebody says that it has signed.
    public init(
        _ preview: SharePreview, author: UserID, rosterSequence: UInt64, rosterHead: Digest, time: Int64,
        signature: [UInt8]
    ) {
        self.preview = preview
        self.author = author
        self.rosterSequence = rosterSequence
        self.rosterHead = rosterHead
        self.time = time
        self.signature = signature
    }

    /// Whether a reader that has seen `other` of the same URL takes this one: older ones are a rollback.
    public func isOlder(than other: (rosterSequence: UInt64, time: Int64)) -> Bool {
        (rosterSequence, time) < (other.rosterSequence, other.time)
    }

    /// What it shows, where somebody vouches for it who administers the share now.
    ///
    /// - Parameter roster: the share's, verified, as it is now.
    /// - Returns: nil where its author has administered the share in its present life and does no more: whoever does
    ///   renews it. So too for one of an earlier life.
    /// - Throws: `unknownRosterHead` where the roster has no such head; `authorNotPermitted` by somebody who
    ///   administered nothing there; `invalidSignature`.
    public func verified(in roster: Roster) throws(SealError) -> SharePreview? {
        guard rosterSequence < roster.nextSequence, roster.hashes[Int(rosterSequence)] == rosterHead else {
            throw .unknownRosterHead
        }
        guard let standing = roster.standing(of: author, at: rosterSequence), standing.mayAdminister else {
            throw .authorNotPermitted
        }
        let message = SignedPreview.signedBytes(
            preview, scopeID: roster.scopeID, author: author, sequence: rosterSequence, head: rosterHead, time: time)
        try standing.identity.current.signingKey.verify(signature, over: message)
        guard roster.members[author]?.mayAdminister == true,
            roster.epochInForce(at: rosterSequence)?.context.incarnations == roster.incarnations
        else { return nil }
        return preview
    }

    static func signedBytes(
        _ preview: SharePreview, scopeID: Digest, author: UserID, sequence: UInt64, head: Digest, time: Int64
    ) -> PAE {
        var pae = PAE(.previewSignature, pieces: 8, capacity: preview.thumbnail.count + 512)
        pae.add(scopeID)
        pae.add(author.id)
        pae.add(sequence)
        pae.add(head)
        pae.add(time)
        pae.add(preview.title)
        pae.add(preview.shareType)
        pae.add(preview.thumbnail)
        return pae
    }
}

// MARK: Canonical encoding

extension SignedPreview {
    func canonicalBytes() -> [UInt8] {
        var writer = CanonicalWriter(capacity: preview.thumbnail.count + 512)
        writer.id(author.id)
        writer.number(rosterSequence)
        writer.digest(rosterHead)
        writer.number(time)
        writer.string(preview.title)
        writer.string(preview.shareType)
        writer.blob(preview.thumbnail)
        writer.raw(signature)
        return writer.bytes
    }

    /// One preview, then its padding.
    /// - Throws: `malformed`, `invalidLength`.
    init(padded bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        author = UserID(try reader.id())
        rosterSequence = try reader.number()
        rosterHead = try reader.digest()
        time = try reader.number()
        preview = SharePreview(
            title: try reader.string(atMost: Limits.previewBytes),
            shareType: try reader.string(atMost: Limits.previewBytes),
            thumbnail: try reader.blob(atMost: Limits.previewBytes))
        signature = try reader.raw(SigningKey.signatureBytes)
        try reader.finishPadded(total: bytes.count)
    }
}
