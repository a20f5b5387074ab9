import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import Testing

/// Who holds which key through the changes that a scope lives through, with real grants.
@Suite(.timeLimit(.minutes(60))) struct LifeOfKeysTests {
    var zone: Zone
    let alice: Account
    let bob: Account

    init() throws {
        zone = try Zone()
        alice = try Account(2)
        bob = try Account(3)
    }

    private mutating func apply(_ draft: RosterAuthor<XWingHPKE>.Draft) throws {
        try zone.roster.append(draft.entry)
        if let key = draft.epochKey { zone.key = key }
        for grant in draft.grants where grant.epoch == zone.roster.currentEpoch.number {
            #expect(
                zone.roster.currentEpoch.grantHashes[grant.subject].map { $0 == GrantHash.of(grant.sealed) } ?? true)
        }
    }

    private mutating func next(
        _ changes: [RosterChange], settings: SettingsDraft? = nil, invitations: [InvitationDraft] = [],
        rotating: Bool = false,
        by author: RosterAuthor<XWingHPKE>? = nil
    ) throws -> RosterAuthor<XWingHPKE>.Draft {
        try (author ?? zone.owner.author).next(
            on: zone.roster, changes: changes, settings: settings, invitations: invitations, rotating: rotating,
            current: zone.key, time: 2, random: &zone.random)
    }

    private func grant(_ draft: RosterAuthor<XWingHPKE>.Draft, for subject: GrantSubject) throws -> [UInt8] {
        try #require(draft.grants.first { $0.subject == subject }).sealed
    }

    /// Joins by an invitation or the public seat.
    private mutating func join(_ person: Account, _ keys: InvitationKeys) throws {
        try apply(person.author.accept(keys, on: zone.roster, identity: person.identity, epochKey: zone.key, time: 2))
    }

    private mutating func invite(_ person: Account, _ number: UInt8, _ permission: Permission = .readWrite) throws {
        let keys = try zone.link.invitationKeys(
            scopeID: zone.roster.scopeID, invitationID: ID16([UInt8](repeating: number, count: 16)))
        try apply(
            next(
                [],
                invitations: [InvitationDraft(keys: keys, permission: permission, invitee: nil, using: XWingHPKE.self)])
        )
        try join(person, keys)
    }

    @Test mutating func `Whoever has the URL joins a public scope, until its URL is renewed`() throws {
        let seatID = ID16(random: &zone.random)
        let opened = try next([], settings: SettingsDraft(secret: zone.link, publicAccess: (seatID, .readWrite)))
        try apply(opened)
        let keys = try zone.link.invitationKeys(scopeID: zone.roster.scopeID, invitationID: seatID)
        let sealed = try grant(opened, for: .invitation(seatID))
        let key = try Grants<XWingHPKE>.open(sealed, epoch: zone.roster.currentEpoch, invitation: keys, keys: nil)
        #expect(key.keyID == zone.key.keyID)
        try join(alice, keys)
        try join(bob, keys)
        #expect(zone.roster.members[alice.userID]?.role == .publicUser)

        // Alice goes, and with her the URL that she knows.
        #expect(throws: SealError.renewalRequired) { try next([.remove(alice.userID)], rotating: true) }
        let renewed = LinkSecret(random: &zone.random)
        let newSeat = ID16(random: &zone.random)
        let removal = try next(
            [.remove(alice.userID)], settings: SettingsDraft(secret: renewed, publicAccess: (newSeat, .readWrite)),
            rotating: true)
        try apply(removal)
        let newSealed = try grant(removal, for: .invitation(newSeat))
        for secret in [zone.link, renewed] {
            let keys = try secret.invitationKeys(scopeID: zone.roster.scopeID, invitationID: newSeat)
            let opened = try? Grants<XWingHPKE>.open(
                newSealed, epoch: zone.roster.currentEpoch, invitation: keys, keys: nil)
            #expect((opened != nil) == (secret.id(in: zone.roster.scopeID) == zone.roster.linkID))
        }
        let forAlice = removal.grants.contains { $0.subject == .member(alice.userID) }
        #expect(!forAlice)
        #expect(throws: SealError.invalidURL) {
            let old = try zone.link.invitationKeys(scopeID: zone.roster.scopeID, invitationID: newSeat)
            _ = try alice.author.accept(old, on: zone.roster, identity: alice.identity, epochKey: zone.key, time: 3)
        }
    }

    @Test mutating func `An administrator gets the share-wide secret, and no other that the server seals`() throws {
        try invite(alice, 1)
        try apply(next([.setRole(alice.userID, .administrator)]))
        let scopeID = zone.roster.scopeID
        let linkID = try #require(zone.roster.linkID)
        let sealed = try SealedLinks<XWingHPKE>.seal(zone.link, scopeID: scopeID, to: alice.identity)
        let secret = try SealedLinks<XWingHPKE>.open(
            sealed, scopeID: scopeID, linkID: linkID, as: alice.userID, keys: alice.keys)
        #expect(secret.id(in: scopeID) == linkID)
        let servers = try SealedLinks<XWingHPKE>.seal(
            LinkSecret(random: &zone.random), scopeID: scopeID, to: alice.identity)
        #expect(throws: SealError.self) {
            try SealedLinks<XWingHPKE>.open(
                servers, scopeID: scopeID, linkID: linkID, as: alice.userID, keys: alice.keys)
        }
        // She removes Bob, who had joined before.
        try invite(bob, 2)
        try apply(next([.remove(bob.userID)], rotating: true, by: alice.author))
        #expect(zone.roster.permission(of: bob.userID) == nil)
    }

    @Test mutating func `A member's new keys get the next epoch, the old ones do not`() throws {
        try invite(alice, 1)
        let seed = try AccountSeed(secret(0x66))
        let newKeys = try seed.identityKeys(container: zone.scope.container, using: XWingHPKE.self)
        let chain = try newKeys.nextIdentity(after: alice.identity, signedBy: alice.keys, time: 0)
        #expect(throws: SealError.invalidIdentity) {
            try newKeys.nextIdentity(after: alice.identity, signedBy: bob.keys, time: 0)
        }
        #expect(chain.userID == alice.userID)
        #expect(chain.continues(alice.identity))
        #expect(!alice.identity.continues(chain))

        let draft = try next([.identity([chain.signed[1]])], rotating: true, by: alice.author)
        try apply(draft)
        #expect(!zone.roster.rotationDue)
        let sealed = try grant(draft, for: .member(alice.userID))
        let epoch = zone.roster.currentEpoch
        #expect(try Grants<XWingHPKE>.open(sealed, epoch: epoch, as: alice.userID, keys: newKeys).keyID == epoch.keyID)
        #expect(throws: SealError.authenticationFailed) {
            try Grants<XWingHPKE>.open(sealed, epoch: epoch, as: alice.userID, keys: alice.keys)
        }
        // Numbers that the two had compared are others now.
        #expect(SafetyNumber.of(zone.owner.identity, alice.identity) != SafetyNumber.of(zone.owner.identity, chain))
        #expect(
            SafetyNumber.groups(of: chain, zone.owner.identity).joined() == SafetyNumber.of(zone.owner.identity, chain))
    }

    @Test mutating func `A record moves into a share with the key it has, and its participant opens it`() throws {
        let draft = RecordDraft(
            statement: zone.statement(), recordKey: nil,
            fields: [("body", .encrypted(.string("Dear diary"))), ("zip", .plain(.string("10115")))])
        let sealed = try zone.seal([draft])
        let verified = try zone.verify(sealed.records, sealed.signature)[0]

        let scope = Scope(
            container: zone.scope.container, environment: zone.scope.environment, owner: zone.scope.owner,
            zoneName: zone.scope.zoneName,
            shareRecordName: "Share-1")
        let opening = try zone.owner.author.open(
            scope, following: nil, encryptionScope: .perRecord, rootRecordName: "Note-1", identity: zone.owner.identity,
            time: 1,
            random: &zone.random)
        var share = try Roster(opening: opening.entry, scope: scope)
        let key = try #require(opening.epochKey)
        let secret = LinkSecret(random: &zone.random)
        let keys = try secret.invitationKeys(
            scopeID: share.scopeID, invitationID: ID16([UInt8](repeating: 7, count: 16)))
        let invitation = try zone.owner.author.next(
            on: share, changes: [], settings: SettingsDraft(secret: secret),
            invitations: [InvitationDraft(keys: keys, permission: .readOnly, invitee: nil, using: XWingHPKE.self)],
            rotating: false,
            current: key, time: 1, random: &zone.random)
        try share.append(invitation.entry)
        let accepted = try bob.author.accept(keys, on: share, identity: bob.identity, epochKey: key, time: 1)
        try share.append(accepted.entry)

        let digests = sealed.records[0].fields.map { FieldDigest(name: $0.name, digest: $0.digest) }
        #expect(throws: SealError.fieldMismatch) {
            try RecordDraft(
                rewrapping: verified, fields: [digests[0]], recordKey: sealed.records[0].recordKey, into: share,
                by: zone.owner.userID, clientTime: 2)
        }
        let moved = try RecordDraft(
            rewrapping: verified, fields: digests, recordKey: sealed.records[0].recordKey, into: share,
            by: zone.owner.userID, clientTime: 2)
        let (records, signature) = try RecordSealer.seal(
            [moved], epochKey: key, signingKey: zone.owner.keys.signingKey, random: &zone.random)
        var verifier = StatementVerifier(roster: share)
        let proof = StatementProof(signature: signature, leafCount: 1, index: 0, path: [])
        let inShare = try verifier.verify(records[0].statementBytes, proof: proof, recordName: "Note-1")
        try inShare.check(follows: verified)
        // Whoever was in the zone may hold its key: nothing new is sealed under it.
        #expect(inShare.statement.isKeyCarried)
        var next = moved
        next.fields = [("body", .encrypted(.string("New")))]
        #expect(throws: SealError.missingKey) {
            try RecordSealer.seal([next], epochKey: key, signingKey: zone.owner.keys.signingKey, random: &zone.random)
        }
        // A root names its share.
        #expect(Placement(of: inShare, roster: share, parent: nil) == .heldBack)

        let grant = try #require(accepted.grants.first).sealed
        let bobsKey = try Grants<XWingHPKE>.open(grant, epoch: share.currentEpoch, as: bob.userID, keys: bob.keys)
        let opener = try RecordOpener(inShare, epochKey: bobsKey)
        let field = try #require(sealed.records[0].stored("body"))
        #expect(try opener.open(field, name: "body").value == .string("Dear diary"))
        // The zone's own key opens nothing of the share.
        #expect(throws: SealError.missingKey) { try RecordOpener(inShare, epochKey: zone.key) }
    }
}

@Suite(.timeLimit(.minutes(60))) struct EnrolmentTests {
    let seeds: [AccountSeed]
    let loginKey: VerificationKey
    let heads: [Enrolment.Head]

    init() throws {
        seeds = [try AccountSeed(secret(1)), try AccountSeed(secret(2))]
        loginKey = try seeds[1].loginKey().verificationKey
        heads = [1, 2, 3].map { Enrolment.Head(scopeID: GrantHash.of([$0]), sequence: UInt64($0), hash: .zero) }
    }

    @Test func `A new device gets all seeds and heads, and both show one code`() throws {
        var random = FixedRandom(1)
        let device = try Enrolment.NewDevice<XWingHPKE>(random: &random)
        let answer = Digest(random: &random)
        let old = try Enrolment.Transcript(
            enrolmentID: device.enrolmentID, commitment: device.commitment, answer: answer, reveal: device.reveal,
            loginKey: loginKey)
        let new = try device.transcript(answer: answer, loginKey: loginKey)
        #expect(old == new)
        #expect(old.code.count == 6)
        #expect(old.code.first { !$0.isNumber } == nil)
        let sealed = try Enrolment.seal(
            Enrolment.Package(seeds: seeds, heads: heads), to: old.confirmedByUser(), using: XWingHPKE.self)
        let package = try device.open(sealed, confirmed: new.confirmed(byScanning: old.hash))
        #expect(package.seeds.map { $0.bytes.copyBytes() } == seeds.map { $0.bytes.copyBytes() })
        #expect(package.heads == heads.sorted { $0.scopeID < $1.scopeID })
    }

    @Test func `Whoever stands between shows two codes, and cannot choose keys after the answer`() throws {
        var random = FixedRandom(2)
        let device = try Enrolment.NewDevice<XWingHPKE>(random: &random)
        let attacker = try Enrolment.NewDevice<XWingHPKE>(random: &random)
        let answer = Digest(random: &random)
        // Its own key under the new device's commitment is refused by the old device.
        #expect(throws: SealError.keyMismatch) {
            try Enrolment.Transcript(
                enrolmentID: device.enrolmentID, commitment: device.commitment, answer: answer, reveal: attacker.reveal,
                loginKey: loginKey)
        }
        // With its own commitment the two transcripts differ.
        let shownByOld = try Enrolment.Transcript(
            enrolmentID: device.enrolmentID, commitment: attacker.reveal.commitment(enrolmentID: device.enrolmentID),
            answer: answer,
            reveal: attacker.reveal, loginKey: loginKey)
        let shownByNew = try device.transcript(answer: answer, loginKey: loginKey)
        #expect(shownByOld.code != shownByNew.code)
        #expect(throws: SealError.keyMismatch) { try shownByNew.confirmed(byScanning: shownByOld.hash) }
        // A package of an account of its own, which the transcript does not name.
        let other = Enrolment.Package(seeds: [try AccountSeed(secret(9))], heads: [])
        let sealed = try Enrolment.seal(other, to: shownByNew.confirmedByUser(), using: XWingHPKE.self)
        #expect(throws: SealError.keyMismatch) { try device.open(sealed, confirmed: shownByNew.confirmedByUser()) }
    }

    @Test func `A package has seeds, and each scope once`() throws {
        var random = FixedRandom(3)
        let device = try Enrolment.NewDevice<XWingHPKE>(random: &random)
        let transcript = try device.transcript(answer: .zero, loginKey: loginKey)
        #expect(throws: SealError.invalidLength) {
            try Enrolment.seal(
                Enrolment.Package(seeds: [], heads: []), to: transcript.confirmedByUser(), using: XWingHPKE.self)
        }
        #expect(throws: SealError.malformed) {
            try Enrolment.seal(
                Enrolment.Package(seeds: seeds, heads: heads + heads), to: transcript.confirmedByUser(),
                using: XWingHPKE.self)
        }
    }
}
