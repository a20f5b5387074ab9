import SealEnvelope
package import SealPrimitives
package import SealStatements

package enum GrantVectors {
    package static func keyID(_ key: [UInt8], _ context: EpochContext) -> Digest {
        var pae = PAE(.keyID, pieces: EpochContext.pieces + 1)
        context.add(to: &pae)
        pae.add(key)
        return Hash.digest(pae)
    }

    static func check<H: HybridEncryption>(
        _ test: Fields, shared: Fields, type: String, using hybrid: H.Type
    ) throws(VectorError) {
        let sealed = try test.bytes("sealed")
        if type == "GrantHash" { return try test.expect("hash", .hex(GrantHash.of(sealed))) }
        let roster = try shared.roster()
        func keys() throws(VectorError) -> IdentityKeys {
            let seed = try test.accountSeed()
            return try core(seed.identityKeys(container: roster.scope.container, using: H.self))
        }
        switch type {
        case "SealedAddress":
            let (keys, user, scopeID) = (try keys(), try test.user("userRecordName"), try test.digest("scopeID"))
            let invitation = Invitation(
                id: try test.id("invitationID"), permission: .readOnly, invitee: nil,
                signingKey: keys.signingKey.verificationKey, grantKey: [], grantHash: .zero,
                sealedAddresses: [SealedAddress(reader: user, sealed: sealed)])
            let address = try core(SealedAddresses<H>.open(invitation, scopeID: scopeID, as: user, keys: keys))
            try test.expect("address", .string(address))
        case "SealedContact":
            let (keys, user, scopeID) = (try keys(), try test.user("userRecordName"), try test.digest("scopeID"))
            let requestID = try test.id("requestID")
            let contact = try core(
                SealedContact<H>.open(sealed, scopeID: scopeID, requestID: requestID, as: user, keys: keys))
            try test.expect("contact", .string(contact))
        case "SealedLink":
            let (keys, user, scopeID) = (try keys(), try test.user("userRecordName"), try test.digest("scopeID"))
            let linkID = try test.digest("linkID")
            let secret = try core(SealedLinks<H>.open(sealed, scopeID: scopeID, linkID: linkID, as: user, keys: keys))
            try test.expect("linkSecret", .hex(secret.bytes))
        default:
            let epoch = try test.epoch("epoch", of: roster)
            let opened: EpochKey
            if type == "MemberGrant" {
                let (keys, user) = (try keys(), try test.user("userRecordName"))
                opened = try core(Grants<H>.open(sealed, epoch: epoch, as: user, keys: keys))
            } else {
                let (link, id) = (try test.linkSecret(), try test.id("invitationID"))
                let invitation = try core(link.invitationKeys(scopeID: roster.scopeID, invitationID: id))
                let own = test.has("seed") ? try keys() : nil
                opened = try core(Grants<H>.open(sealed, epoch: epoch, invitation: invitation, keys: own))
            }
            guard opened.keyID == keyID(try test.bytes("key"), epoch.context) else { throw .differs("key") }
        }
    }
}
