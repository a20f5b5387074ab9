import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import SealVectorChecks

extension LinkVectors: Construction {
    static let construction = VectorConstruction.links
    static let algorithm = "Link secrets, share URLs, previews"
    static let header = [
        "InvitationKeys: what `linkSecret` gives in `scopeID` for `invitationID`.",
        "LinkID: `linkSecret` has `linkID` in `scopeID`.",
        "URL: `url` has these parts and names `scopeID`.",
        "Preview: `sealed` opens in the scope of the roster that `scope` and `entries` give, and verifies in it: author, the roster's head that it names, time, title, type and thumbnail; `isVouched` whether its author administers the share now. `random` gives the very bytes.",
    ]

    static func generate(into builder: inout VectorBuilder) throws {
        let zone = try VectorZone()
        try builder.group("InvitationKeys") { group in
            for number in [1, 2] as [UInt8] {
                let keys = try zone.invitationKeys(number)
                group.valid(
                    "invitation \(number)",
                    [
                        "linkSecret": .hex(VectorZone.linkBytes), "scopeID": .hex(zone.scope.id),
                        "invitationID": .hex(keys.id),
                        "signingKey": .hex(keys.signingKey.verificationKey.bytes), "grantSeed": .hex(keys.grantSeed),
                        "grantKey": .hex(try XWingHPKE.publicKey(seed: keys.grantSeed)),
                    ])
            }
        }
        let link = try VectorZone.link()
        try builder.group("LinkID") { group in
            group.valid(
                "the share-wide secret",
                [
                    "linkSecret": .hex(VectorZone.linkBytes), "scopeID": .hex(zone.scope.id),
                    "linkID": .hex(link.id(in: zone.scope.id)),
                ])
            group.altered("another scope", ["scopeID": .hex(Digest.zero)])
            group.altered("another secret", ["linkSecret": .hex(Digest.zero)])
        }
        let routing = try ID16([UInt8](repeating: 0x33, count: 16))
        let url = ShareURL(
            origin: "https://notes.example.org", routingID: routing, secret: link, scopeID: zone.scope.id
        ).text()
        try builder.group("URL") { group in
            group.valid(
                "a share URL",
                [
                    "url": .string(url), "origin": .string("https://notes.example.org"), "routingID": .hex(routing),
                    "linkSecret": .hex(VectorZone.linkBytes), "scopeID": .hex(zone.scope.id),
                ])
            group.altered("another share behind it", ["scopeID": .hex(Digest.zero)])
            for (comment, text) in [
                ("cut short", String(url.dropLast())), ("cut at the secret part", String(url.prefix { $0 != "#" })),
                ("no secret part", String(url.prefix { $0 != "#" }) + "#"),
                ("a letter more", url + "A"), ("padding", url + "="),
                ("another version", url.replacing("#A", with: "#B")),
                ("unused bits set in the version's first letter", url.replacing("#A", with: "#C")),
                ("another path", url.replacing("/s/", with: "/t/")),
                ("another scheme", url.replacing("https:", with: "ftp:")),
                ("a shorter routing id", url.replacing("/s/M", with: "/s/")),
                ("the last letter altered", String(url.dropLast()) + (url.last == "A" ? "B" : "A")),
            ] { group.altered(comment, ["url": .string(text)]) }
        }
        try PreviewVectors.generate(into: &builder, link)
    }
}
