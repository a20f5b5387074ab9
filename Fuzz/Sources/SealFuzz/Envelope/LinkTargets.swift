import SealPrimitives
import SealStatements

@testable import SealEnvelope

/// Share URLs: what is read is written the same.
enum ShareURLTarget: FuzzTarget {
    static let name = "share-url"
    static let maximumLength = 1_024
    static let seeds = [Seed.text("links", "url")]

    static func run(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        guard let url = try? ShareURL(text) else { return }
        require(url.text().utf8.elementsEqual(text.utf8), "a URL with another spelling")
        require(text.utf8.starts(with: url.origin.utf8), "another server than the text's")
        let again = certain("a URL that was written is read") { try ShareURL(url.text()) }
        require(again.origin.utf8.elementsEqual(url.origin.utf8) && again.routingID == url.routingID, "another address")
        require(SecretBytes.areEqual(again.secret.bytes, url.secret.bytes), "another secret")
        require(text.utf8.starts(with: (url.description + "#").utf8), "a description of more than the address")
        for scope in [World.scope.id, .zero] {
            require((try? url.check(scopeID: scope)) == nil || (try? again.check(scopeID: scope)) != nil, "another check")
        }
    }
}

/// Previews of shares.
enum PreviewTarget: FuzzTarget {
    static let name = "preview"
    static let maximumLength = 65_536
    static let seeds = [Seed.hex("links", "sealed"), .hex("padding", "plaintext"), .made(Padding.pad(honest))]
    private static let honest = certain("a preview") {
        try SharePreview(title: "Notes", shareType: "list", thumbnail: [1, 2, 3]).value.canonicalBytes()
    }

    static func run(_ input: [UInt8]) {
        let scopeID = World.scope.id
        var pae = PAE(.preview, pieces: 1)
        pae.add(scopeID)
        let sealed = seal(input, under: Hash.derive(World.link.bytes, .preview, scopeID.bytes), pae)
        let open = { try World.link.openPreview($0, scopeID: scopeID) }
        opensOnlyWhole(hostile: input, sealed: sealed, "a preview", open: open)
        refuses("another share's preview", with: .authenticationFailed) {
            try World.link.openPreview(sealed, scopeID: .zero)
        }
        guard let preview = try? open(sealed) else { return }
        let bytes = certain("a preview that was read is written") { try preview.value.canonicalBytes() }
        require(Padding.pad(bytes) == input, "a preview with another encoding")
    }
}
