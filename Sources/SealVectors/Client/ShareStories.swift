import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import SealVectorChecks

/// A shared zone whose owner is Ann: Bob reads in it, and there is an open invitation; in another log of it whoever has
/// the URL may read. Its grants are recorded, so that they open.
struct ShareStories {
    private let zone: VectorZone
    private let ann, bob, alice: VectorPerson
    private var logs: VectorLogs
    private let placeholder, known, publicSeat: [UInt8]
    /// By the owner, at a head that all logs have, and by Bob while he administered the share.
    private let byAnn, byBob: SignedPreview

    private typealias Values = [String: JSON]

    static let server = "https://notes.example.org"
    private static let invitationID = [UInt8](repeating: 1, count: 16)
    private static let publicID = [UInt8](repeating: 0xA0, count: 16)

    init() throws {
        (ann, alice, bob) = (
            try VectorPerson(1, time: 0), try VectorPerson(2, time: 0), try VectorPerson(3, time: 0)
        )
        placeholder = try Base64URL.decode(RecordedGrants.placeholder)
        known = try Base64URL.decode(RecordedGrants.invitee)
        publicSeat = try Base64URL.decode(RecordedGrants.publicSeat)
        var base = try VectorZone(owner: ann)
        try base.join(bob, 2, .readOnly)
        byAnn = Self.preview(by: ann, on: base.roster)
        var zone = base
        try zone.append(by: ann, [.invite(zone.invitation(1, grant: placeholder))])
        self.zone = zone
        logs = VectorLogs("main", zone.entries)

        var naming = base
        try naming.append(by: ann, [.invite(naming.invitation(1, for: alice, grant: known))])
        logs.add("known", naming.entries)
        // What was signed for opens for nobody: it is another seat's.
        var useless = base
        try useless.append(by: ann, [.invite(useless.invitation(1, grant: publicSeat))])
        logs.add("badGrant", useless.entries)
        var revoked = zone
        try revoked.append(by: ann, [.revoke(ID16(Self.invitationID))], rotating: true)
        logs.add("revoked", revoked.entries)
        var open = base
        try open.append(by: ann, [open.settings(.readOnly, grant: publicSeat)])
        logs.add("public", open.entries)
        try open.append(by: ann, [open.settings(.readOnly, seat: 0xA1, renewals: 1)], rotating: true)
        logs.add("renewed", open.entries)
        var closed = zone
        try closed.append(by: ann, [.close])
        logs.add("closed", closed.entries)
        var administered = base
        try administered.append(
            by: ann, [.setPermission(bob.user, .readWrite), .setRole(bob.user, .administrator)])
        byBob = Self.preview(by: bob, on: administered.roster)
        try administered.append(by: ann, [.setRole(bob.user, .privateUser)], rotating: true)
        logs.add("demoted", administered.entries)

        var altered = zone.entries
        let last = altered.count - 1
        altered[last] = SignedRosterEntry(bytes: altered[last].bytes, signature: altered[last - 1].signature)
        logs.add("altered", altered)
        altered[last] = SignedRosterEntry(bytes: [1, 2, 3], signature: zone.entries[last].signature)
        logs.add("malformed", altered)
        var left = zone.entries
        left.remove(at: last - 1)
        logs.add("gap", left)
        logs.add("otherZone", try VectorZone(zoneName: "Other", owner: ann).entries)
    }

    func generate(into builder: inout VectorBuilder) throws {
        try builder.group("Share", shared: ["logs": logs.json]) { group in
            try honest(&group)
            try places(&group)
            try rosters(&group)
            try previews(&group)
            try seats(&group)
        }
    }

    // MARK: Parts of an answer

    static func url(of scope: Scope, renewals: UInt8 = 0) throws -> String {
        ShareURL(
            origin: server, routingID: try ID16([UInt8](repeating: 0x33, count: 16)),
            secret: try VectorZone.link(renewals), scopeID: scope.id
        ).text()
    }

    static func place(_ scope: Scope, _ changes: [String: JSON] = [:]) -> JSON {
        .object(
            [
                "container": .string(scope.container), "environment": .string(scope.environment.name),
                "owner": .string(scope.owner.recordName), "zoneName": .string(scope.zoneName),
                "shareRecordName": .string(scope.shareRecordName),
            ].merging(changes) { $1 })
    }

    private static func preview(by author: VectorPerson, on roster: Roster) -> SignedPreview {
        SignedPreview(
            SharePreview(title: "Einkaufsliste", shareType: "list"), by: author.user, key: author.keys.signingKey,
            on: roster, time: VectorZone.time, after: nil)
    }

    private func sealed(_ preview: SignedPreview, renewals: UInt8 = 0) throws -> JSON {
        var random = RecordingRandom("a preview of \(preview.author.recordName)")
        return .hex(try VectorZone.link(renewals).seal(preview, scopeID: zone.scope.id, random: &random))
    }

    /// One page, of what an honest server answers who was invited by the placeholder.
    private func page(
        _ log: String = "main", from first: Int = 0, count: Int? = nil, with changes: Values = [:],
        place: Values = [:]
    ) throws -> Values {
        let entries = logs[log].count
        let page: Values = [
            "place": Self.place(zone.scope, place), "moreComing": .bool(first + (count ?? entries - first) < entries),
            "invitationID": .hex(Self.invitationID), "grant": .hex(placeholder), "preview": try sealed(byAnn),
        ]
        return page.merging(logs.page(log, from: first, count: count)) { $1 }.merging(changes) { $1 }
    }

    /// Everything that is given, and what comes of it.
    private func fields(
        _ pages: [Values], by seeds: [UInt8] = [2], url: String? = nil, _ outcome: Values, _ changes: Values = [:]
    ) throws -> Values {
        let given: Values = [
            "url": .string(try url ?? Self.url(of: zone.scope)), "server": .string(Self.server),
            "container": .string(VectorZone.container), "environment": .string("production"),
            "seeds": .array(seeds.map { .hex([UInt8](repeating: $0, count: 32)) }), "time": .number(VectorZone.time),
            "pages": .array(pages.map { .object($0) }),
        ]
        return given.merging(outcome) { $1 }.merging(changes) { $1 }
    }

    // MARK: What comes of it

    private func opened(_ log: String = "main") -> Values {
        ["opening": .string("accepted"), "head": .hex(logs[log].last.map { RosterEntry.hash($0.bytes) } ?? .zero)]
    }

    private func shown(by author: VectorPerson? = nil) -> Values {
        [
            "preview": .string("shown"), "title": .string("Einkaufsliste"),
            "previewAuthor": .string((author ?? ann).user.recordName),
        ]
    }

    private func seated(_ seat: String = "invitation", _ permission: String = "readWrite") -> Values {
        ["seat": .string(seat), "permission": .string(permission)]
    }

    /// The entry that an acceptor signs.
    private func accepted(
        _ log: String = "main", by person: VectorPerson? = nil, seat number: UInt8 = 1
    ) throws -> Values {
        let person = person ?? alice
        guard let roster = try Roster(replaying: logs[log], scope: zone.scope) else { return [:] }
        let keys = try zone.invitationKeys(number)
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: roster.scopeID, invitationID: keys.id, acceptor: person.identity, head: roster.head)
        let entry = person.sign(
            RosterEntry(
                scopeID: roster.scopeID, sequence: roster.nextSequence, previous: roster.head, author: person.user,
                time: VectorZone.time,
                changes: [
                    .accept(
                        .init(
                            invitationID: keys.id, acceptor: person.identity, signature: keys.signingKey.sign(message)))
                ], epoch: nil))
        return [
            "acceptance": .string("accepted"), "entry": .hex(entry.bytes), "signature": .hex(entry.signature),
            "key": .hex([UInt8](repeating: 0x50, count: 32)),
        ]
    }

    private func joined(_ parts: Values...) -> Values {
        parts.reduce([:]) { $0.merging($1) { $1 } }
    }

    // MARK: Tests

    private func honest(_ group: inout VectorBuilder.GroupBuilder) throws {
        group.valid(
            "a one-time URL", try fields([page()], joined(opened(), shown(), seated(), accepted())), flag: "Rule")
        group.valid(
            "the roster in two pages",
            try fields(
                [page(count: 3), page(from: 3)], joined(opened(), shown(), seated(), accepted())), flag: "Rule")
        group.valid(
            "an invitation that names the acceptor",
            try fields(
                [page("known", with: ["grant": .hex(known)])],
                joined(opened("known"), shown(), seated("knownInvitation"), accepted("known"))), flag: "Rule")
        let renewed = try VectorPerson(12, after: alice, time: 0)
        group.valid(
            "an invitation that names the acceptor by keys of before",
            try fields(
                [page("known", with: ["grant": .hex(known)])],
                by: [2, 12],
                joined(
                    opened("known"), shown(), seated("knownInvitation"), accepted("known", by: renewed))),
            flag: "Rule")
        group.valid(
            "the share-wide URL",
            try fields(
                [page("public", with: ["invitationID": .hex(Self.publicID), "grant": .hex(publicSeat)])],
                joined(opened("public"), shown(), seated("publicSeat", "readOnly"), accepted("public", seat: 0xA0))),
            flag: "Rule")
        group.valid(
            "by a member, whom no seat is named",
            try fields(
                [page(with: ["invitationID": .hex([UInt8]()), "grant": .hex([UInt8]())])], by: [3],
                joined(opened(), shown(), seated("member", "readOnly"))), flag: "Rule")
        group.valid(
            "a preview of somebody who administers the share no more",
            try fields(
                [page("demoted", with: ["preview": sealed(byBob)])], by: [3],
                joined(opened("demoted"), ["preview": .string("notVouched")], seated("member"))),
            flag: "Rule")
        group.valid(
            "the preview that was seen behind the URL before",
            try fields(
                [page()], joined(opened(), shown(), seated(), accepted()), ["seenPreview": seen(VectorZone.time)]),
            flag: "Rule")
    }

    private func seen(_ time: Int64) -> JSON {
        .object(["rosterSequence": .number(byAnn.rosterSequence), "time": .number(time)])
    }

    /// What is refused before anything of the share is shown.
    private func unopened(
        _ group: inout VectorBuilder.GroupBuilder, _ comment: String, _ verdict: String, _ pages: [Values],
        url: String? = nil, _ changes: Values = [:]
    ) throws {
        group.invalid(
            comment, try fields(pages, url: url, ["opening": .string(verdict)], changes), flag: "Altered")
    }

    private func places(_ group: inout VectorBuilder.GroupBuilder) throws {
        try unopened(
            &group, "a URL of another server than is asked", "otherServer", [page()],
            ["server": .string("https://notes.example.com")])
        try unopened(
            &group, "another container", "otherContainer",
            [page(place: ["container": .string("com.example.other")])])
        try unopened(
            &group, "another environment", "otherContainer", [page(place: ["environment": .string("development")])])
        try unopened(
            &group, "an environment that there is not", "otherContainer", [page(place: ["environment": .string("")])])
        try unopened(
            &group, "another share of the zone", "roster", [page(place: ["shareRecordName": .string("Share-1")])])
        try unopened(&group, "another zone", "roster", [page("otherZone", place: ["zoneName": .string("Other")])])
        try unopened(
            &group, "another owner", "roster", [page(place: ["owner": .string(bob.user.recordName)])])
        try unopened(&group, "an owner who is none", "roster", [page(place: ["owner": .string("ann")])])
        let other = Scope(
            container: VectorZone.container, environment: .production, owner: bob.user, zoneName: "Notes",
            shareRecordName: "")
        try unopened(
            &group, "the URL of another person's zone", "roster", [page()], url: Self.url(of: other))
    }

    private func rosters(_ group: inout VectorBuilder.GroupBuilder) throws {
        try unopened(&group, "another zone's roster", "roster", [page("otherZone")])
        try unopened(&group, "no roster", "roster", [page(count: 0, with: ["moreComing": .bool(false)])])
        try unopened(&group, "an entry whose signature is another's", "roster", [page("altered")])
        try unopened(&group, "an entry that is none", "roster", [page("malformed")])
        try unopened(&group, "an entry left out", "roster", [page("gap")])
        try unopened(&group, "a share that has ended", "roster", [page("closed")])
        let first = try page(count: 3)
        try unopened(
            &group, "a second page that brings nothing, and says that more is to come", "endless",
            [first, page(from: 3, count: 0)])
        try unopened(
            &group, "a second page of another share", "endless",
            [first, page(from: 3, place: ["shareRecordName": .string("Share-1")])])
        try unopened(
            &group, "a second page of another container", "otherContainer",
            [first, page(from: 3, place: ["container": .string("com.example.other")])])
        try unopened(&group, "a second page that repeats the first", "roster", [first, first])
        try unopened(
            &group, "a second page whose entry does not hold", "roster", [first, page("altered", from: 3)])
    }

    private func previews(_ group: inout VectorBuilder.GroupBuilder) throws {
        func refused(_ comment: String, _ sealed: JSON, _ changes: Values = [:], _ verdict: String = "preview") throws {
            group.invalid(
                comment,
                try fields(
                    [page(with: ["preview": sealed])],
                    joined(opened(), ["preview": .string(verdict)], seated(), accepted()), changes))
        }
        try refused("a preview that was sealed with another secret", sealed(byAnn, renewals: 1))
        try refused("a preview by a member who only reads", sealed(Self.preview(by: bob, on: zone.roster)))
        try refused("a preview by nobody whom the roster knows", sealed(Self.preview(by: alice, on: zone.roster)))
        try refused("a preview at a head that the roster has not", sealed(byBob))
        guard case .string(let hex) = try sealed(byAnn) else { return }
        try refused("a preview cut short", .string(String(hex.dropLast(2))))
        try refused("no preview", .hex([UInt8]()))
        try refused(
            "an older preview than was seen", sealed(byAnn), ["seenPreview": seen(VectorZone.time + 1)], "older")
    }

    private func seats(_ group: inout VectorBuilder.GroupBuilder) throws {
        func refused(
            _ comment: String, _ seat: Values, _ log: String = "main", by seeds: [UInt8] = [2], url: String? = nil,
            preview: Values? = nil, with changes: Values
        ) throws {
            group.invalid(
                comment,
                try fields(
                    [page(log, with: changes)], by: seeds, url: url, joined(opened(log), preview ?? shown(), seat)))
        }
        let none: Values = ["seat": .string("noSeat")]
        try refused("a seat that the roster has not", none, with: ["invitationID": .hex(ID16.zero)])
        try refused("a seat's id of 15 bytes", none, with: ["invitationID": .hex([UInt8](repeating: 1, count: 15))])
        try refused("no seat", none, with: ["invitationID": .hex([UInt8]())])
        try refused(
            "the seat of an invitation that was accepted", none,
            with: ["invitationID": .hex([UInt8](repeating: 2, count: 16))])
        try refused("an invitation that has expired, and was revoked for that", none, "revoked", with: [:])
        try refused(
            "the public seat of a URL that was renewed since", none, "renewed",
            with: ["invitationID": .hex(Self.publicID), "grant": .hex(publicSeat)])

        let wrong = joined(seated(), ["acceptance": .string("invitation")])
        try refused(
            "a URL with another secret", wrong, url: Self.url(of: zone.scope, renewals: 1),
            preview: ["preview": .string("preview")], with: [:])
        try refused("grants swapped: the public seat's", wrong, with: ["grant": .hex(publicSeat)])
        try refused("grants swapped: that of an invitation which names somebody", wrong, with: ["grant": .hex(known)])
        try refused("no grant", wrong, with: ["grant": .hex([UInt8]())])
        try refused("an altered grant", wrong, with: ["grant": .hex([UInt8](placeholder.dropLast()) + [0])])
        try refused(
            "the public seat, with the invitation's grant",
            joined(seated("publicSeat", "readOnly"), ["acceptance": .string("invitation")]), "public",
            with: ["invitationID": .hex(Self.publicID)])

        let closed = joined(seated("knownInvitation"), ["acceptance": .string("grant")])
        try refused(
            "an invitation that names somebody else", closed, "known", by: [4], with: ["grant": .hex(known)])
        try refused(
            "a grant that was signed for, and is another seat's", joined(seated(), ["acceptance": .string("grant")]),
            "badGrant", with: ["grant": .hex(publicSeat)])
    }
}
