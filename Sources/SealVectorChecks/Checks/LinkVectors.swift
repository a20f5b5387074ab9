import SealEnvelope
import SealPrimitives
import SealStatements

package enum LinkVectors {
    static func check<H: HybridEncryption>(
        _ test: Fields, shared: Fields, type: String, using hybrid: H.Type
    ) throws(VectorError) {
        if type == "Preview" { return try checkPreview(test, roster: try shared.roster()) }
        let (scopeID, link) = (try test.digest("scopeID"), try test.linkSecret())
        switch type {
        case "InvitationKeys":
            let id = try test.id("invitationID")
            let keys = try core(link.invitationKeys(scopeID: scopeID, invitationID: id))
            try test.expect("signingKey", .hex(keys.signingKey.verificationKey.bytes))
            try test.expect("grantSeed", .hex(keys.grantSeed))
            try test.expect("grantKey", .hex(try core(H.publicKey(seed: keys.grantSeed))))
        case "LinkID":
            let linkID = try test.digest("linkID")
            try core(link.check(linkID: linkID, scopeID: scopeID))
        default:
            let text = try test.string("url")
            let url = try core(ShareURL(text))
            try core(url.check(scopeID: scopeID))
            try test.expect("origin", .string(url.origin))
            try test.expect("routingID", .hex(url.routingID))
            try test.expect("linkSecret", .hex(url.secret.bytes))
            let again = ShareURL(origin: url.origin, routingID: url.routingID, secret: link, scopeID: scopeID)
            try test.expect("url", .string(again.text()))
        }
    }

    private static func checkPreview(_ test: Fields, roster: Roster) throws(VectorError) {
        let (link, sealed) = (try test.linkSecret(), try test.bytes("sealed"))
        let signed = try core(link.openPreview(sealed, scopeID: roster.scopeID))
        let verified = try core(signed.verified(in: roster))
        try test.expect("isVouched", .bool(verified != nil))
        try test.expect("author", .string(signed.author.recordName))
        try test.expect("rosterSequence", .number(signed.rosterSequence))
        try test.expect("rosterHead", .hex(signed.rosterHead))
        try test.expect("time", .number(signed.time))
        try test.expect("title", .string(signed.preview.title))
        try test.expect("shareType", .string(signed.preview.shareType))
        try test.expect("thumbnail", .hex(signed.preview.thumbnail))
        try test.expect("signature", .hex(signed.signature))
        var random = ReplayedRandom(try test.bytes("random"))
        try test.expect("sealed", .hex(try core(link.seal(signed, scopeID: roster.scopeID, random: &random))))
    }
}
