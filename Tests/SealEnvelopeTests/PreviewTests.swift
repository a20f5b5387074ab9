import SealPrimitives
import SealStatements
import Testing

@testable import SealEnvelope

/// What a URL shows, and whose word it is.
@Suite(.timeLimit(.minutes(60))) struct PreviewTests {
    var zone: Zone
    let link: LinkSecret
    let shown = SharePreview(title: "Träume", shareType: "list", thumbnail: [1, 2])

    init() throws {
        zone = try Zone()
        link = try LinkSecret(secret(0xA7))
    }

    private func signed(
        _ preview: SharePreview? = nil, by account: Account? = nil, time: Int64 = 5, after last: SignedPreview? = nil
    ) -> SignedPreview {
        let account = account ?? zone.owner
        return SignedPreview(
            preview ?? shown, by: account.userID, key: account.keys.signingKey, on: zone.roster, time: time, after: last
        )
    }

    @Test mutating func `A preview opens for whoever has the URL, in its scope`() throws {
        let (preview, scope) = (signed(), zone.roster.scopeID)
        let sealed = try link.seal(preview, scopeID: scope, random: &zone.random)
        #expect(try link.openPreview(sealed, scopeID: scope) == preview)
        #expect(try preview.verified(in: zone.roster) == shown)
        #expect(throws: SealError.authenticationFailed) { try link.openPreview(sealed, scopeID: .zero) }
        #expect(throws: SealError.authenticationFailed) {
            try LinkSecret(secret(1)).openPreview(sealed, scopeID: scope)
        }
        for altered in alterations(of: sealed) {
            #expect(throws: SealError.authenticationFailed) { try link.openPreview(altered, scopeID: scope) }
        }
    }

    @Test func `A preview has one encoding, and a limit`() throws {
        let bytes = signed().canonicalBytes()
        let padded = Padding.pad(bytes)
        #expect(try SignedPreview(padded: padded) == signed())
        for wrong in [
            bytes, padded + [0], Array(padded.dropLast()), Array(padded.dropLast()) + [1], [],
            [UInt8](repeating: 0, count: 32),
        ] {
            #expect(throws: SealError.malformed) { try SignedPreview(padded: wrong) }
        }
        let large = signed(SharePreview(title: "", thumbnail: [UInt8](repeating: 0, count: Limits.previewBytes)))
        let scope = zone.roster.scopeID
        func seal(_ preview: SignedPreview) throws(SealError) -> [UInt8] {
            var random = FixedRandom(5)
            return try link.seal(preview, scopeID: scope, random: &random)
        }
        #expect(throws: SealError.invalidLength) { try seal(large) }
        let sealed = [UInt8](repeating: 0, count: Limits.previewBytes + 1)
        #expect(throws: SealError.invalidLength) { try link.openPreview(sealed, scopeID: scope) }
    }

    @Test func `Of a preview that is too long a URL shows what it can`() throws {
        let large = [UInt8](repeating: 7, count: Limits.previewBytes)
        let long = String(repeating: "ä", count: Limits.previewBytes)
        for (preview, shown) in [
            (SharePreview(title: "Plans", shareType: "t", thumbnail: [1]), nil),
            (
                SharePreview(title: "Plans", shareType: "t", thumbnail: large),
                SharePreview(title: "Plans", shareType: "t")
            ),
            (SharePreview(title: long, shareType: "t"), SharePreview(title: String(long.prefix(1_000)))),
            (SharePreview(title: "Plans", shareType: long), SharePreview(title: "Plans")),
        ] as [(SharePreview, SharePreview?)] {
            #expect(preview.isShowable == (shown == nil))
            #expect(preview.showable == shown ?? preview)
        }
        // As much as there is room for, to the byte.
        let scope = zone.roster.scopeID
        for count in (Limits.previewBytes - 2_500)..<Limits.previewBytes where count % 37 == 0 {
            let preview = SharePreview(title: "Plans", thumbnail: [UInt8](repeating: 7, count: count))
            var random = FixedRandom(6)
            let sealed = try? link.seal(signed(preview), scopeID: scope, random: &random)
            #expect(preview.isShowable == (sealed != nil), "\(count)")
        }
    }

    @Test func `What whoever has the URL makes of it is refused`() throws {
        let good = signed()
        func with(
            _ preview: SharePreview? = nil, author: UserID? = nil, sequence: UInt64? = nil, head: Digest? = nil,
            time: Int64? = nil
        ) -> SignedPreview {
            SignedPreview(
                preview ?? good.preview, author: author ?? good.author, rosterSequence: sequence ?? good.rosterSequence,
                rosterHead: head ?? good.rosterHead, time: time ?? good.time, signature: good.signature)
        }
        let stranger = try Account(9)
        for wrong in [with(SharePreview(title: "Passwords")), with(time: 6)] {
            #expect(throws: SealError.invalidSignature) { try wrong.verified(in: zone.roster) }
        }
        for wrong in [with(sequence: zone.roster.nextSequence), with(sequence: .max), with(head: .zero)] {
            #expect(throws: SealError.unknownRosterHead) { try wrong.verified(in: zone.roster) }
        }
        #expect(throws: SealError.authorNotPermitted) { try with(author: stranger.userID).verified(in: zone.roster) }
        #expect(throws: SealError.authorNotPermitted) { try signed(by: stranger).verified(in: zone.roster) }
    }

    @Test func `Whoever renews a preview signs a later time, whatever its clock says`() {
        let first = signed(time: 100)
        #expect(signed(time: 7, after: first).time == 101)
        #expect(signed(time: 200, after: first).time == 200)
        #expect(!signed(time: 7, after: first).isOlder(than: (first.rosterSequence, first.time)))
        #expect(signed(time: 99).isOlder(than: (first.rosterSequence, first.time)))
        let last = signed(time: .max)
        #expect(signed(time: 7, after: last).time == .max)
    }
}
