import SealKit
import SealPrimitives
import SealStatements
import Testing

@testable import SealEnvelope

@Suite(.timeLimit(.minutes(60))) struct GrantTests {
    typealias Author = RosterAuthor<XWingHPKE>
    let alice: Account
    let bob: Account
    let link: LinkSecret
    var zone: Zone

    init() throws {
        alice = try Account(2)
        bob = try Account(3)
        link = try LinkSecret(secret(40))
        zone = try Zone()
    }

    func invitationKeys(_ number: UInt8 = 1) throws(SealError) -> InvitationKeys {
        try link.invitationKeys(
            scopeID: zone.roster.scopeID, invitationID: try ID16([UInt8](repeating: number, count: 16)))
    }

    mutating func invite(_ keys: InvitationKeys, invitee: IdentityChain?) throws -> [UInt8] {
        let draft = try InvitationDraft(keys: keys, permission: .readWrite, invitee: invitee, using: XWingHPKE.self)
        let next = try zone.owner.author.next(
            on: zone.roster, changes: [], invitations: [draft], rotating: false, current: zone.key, time: 1,
            random: &zone.random)
        try zone.roster.append(next.entry)
        return next.grants[0].sealed
    }

    @Test mutating func `The owner opens its own grant`() throws {
        let draft = try zone.owner.author.open(
            zone.scope, following: nil, encryptionScope: .perRecord, identity: zone.owner.identity, time: 1,
            random: &zone.random)
        let roster = try Roster(opening: draft.entry, scope: zone.scope)
        let key = try Grants<XWingHPKE>.open(
            draft.grants[0].sealed, epoch: roster.currentEpoch, as: zone.owner.userID, keys: zone.owner.keys)
        #expect(key.keyID == roster.currentEpoch.keyID)
        #expect(roster.currentEpoch.grantHashes[.member(zone.owner.userID)] == GrantHash.of(draft.grants[0].sealed))
    }

    @Test mutating func `A placeholder's grant opens with the URL's key alone`() throws {
        let keys = try invitationKeys()
        let sealed = try invite(keys, invitee: nil)
        let key = try Grants<XWingHPKE>.open(sealed, epoch: zone.roster.currentEpoch, invitation: keys, keys: nil)
        #expect(key.keyID == zone.key.keyID)
        #expect(throws: SealError.authenticationFailed) {
            try Grants<XWingHPKE>.open(
                sealed, epoch: zone.roster.currentEpoch, invitation: invitationKeys(2), keys: nil)
        }
    }

    @Test mutating func `A known invitee's grant needs both keys: the URL's and the person's`() throws {
        let keys = try invitationKeys()
        let sealed = try invite(keys, invitee: alice.identity)
        let epoch = zone.roster.currentEpoch
        #expect(
            try Grants<XWingHPKE>.open(sealed, epoch: epoch, invitation: keys, keys: alice.keys).keyID == zone.key.keyID
        )
        #expect(throws: SealError.authenticationFailed, "the URL alone") {
            try Grants<XWingHPKE>.open(sealed, epoch: epoch, invitation: keys, keys: nil)
        }
        #expect(throws: SealError.authenticationFailed, "another person with the URL") {
            try Grants<XWingHPKE>.open(sealed, epoch: epoch, invitation: keys, keys: bob.keys)
        }
        let other = try LinkSecret(secret(41)).invitationKeys(scopeID: zone.roster.scopeID, invitationID: keys.id)
        #expect(throws: SealError.authenticationFailed, "the person without the URL") {
            try Grants<XWingHPKE>.open(sealed, epoch: epoch, invitation: other, keys: alice.keys)
        }
        #expect(throws: SealError.authenticationFailed, "as a member's grant") {
            try Grants<XWingHPKE>.open(sealed, epoch: epoch, as: alice.userID, keys: alice.keys)
        }
    }

    @Test mutating func `A grant of another subject, epoch, life or scope does not open`() throws {
        let sealed = try Grants<XWingHPKE>.seal(zone.key, to: alice.identity)
        let epoch = zone.roster.currentEpoch
        _ = try Grants<XWingHPKE>.open(sealed, epoch: epoch, as: alice.userID, keys: alice.keys)
        #expect(throws: SealError.authenticationFailed, "another subject") {
            try Grants<XWingHPKE>.open(sealed, epoch: epoch, as: bob.userID, keys: alice.keys)
        }
        #expect(throws: SealError.authenticationFailed, "another's key") {
            try Grants<XWingHPKE>.open(sealed, epoch: epoch, as: alice.userID, keys: bob.keys)
        }
        let rotation = try zone.owner.author.next(
            on: zone.roster, changes: [], rotating: true, current: zone.key, time: 1, random: &zone.random)
        try zone.roster.append(rotation.entry)
        #expect(throws: SealError.authenticationFailed, "another epoch") {
            try Grants<XWingHPKE>.open(sealed, epoch: zone.roster.currentEpoch, as: alice.userID, keys: alice.keys)
        }
        try zone.roster.append(zone.owner.author.plain(.close, on: zone.roster, time: 1).entry)
        let reopened = try zone.owner.author.open(
            zone.scope, following: zone.roster, encryptionScope: .perRecord, identity: zone.owner.identity, time: 1,
            random: &zone.random)
        try zone.roster.append(reopened.entry)
        #expect(throws: SealError.authenticationFailed, "another life") {
            try Grants<XWingHPKE>.open(sealed, epoch: zone.roster.currentEpoch, as: alice.userID, keys: alice.keys)
        }
        #expect(throws: SealError.authenticationFailed, "another scope") {
            try Grants<XWingHPKE>.open(
                sealed, epoch: Zone("Other").roster.currentEpoch, as: alice.userID, keys: alice.keys)
        }
        for count in [0, 16, 1119, 1136, sealed.count - 1] {
            #expect(throws: SealError.authenticationFailed, "cut short") {
                try Grants<XWingHPKE>.open(
                    [UInt8](sealed.prefix(count)), epoch: epoch, as: alice.userID, keys: alice.keys)
            }
        }
    }

    @Test mutating func `A key is the one that the roster commits to, or no key at all`() throws {
        var random = FixedRandom(5)
        let other = EpochKey(random: &random, context: zone.key.context)
        #expect(throws: SealError.keyMismatch) {
            try EpochKey(other.key, context: zone.key.context, keyID: zone.key.keyID)
        }
        #expect(throws: SealError.keyMismatch) {
            try EpochKey(SecretBytes(copying: [1]), context: zone.key.context, keyID: zone.key.keyID)
        }
        let context = EpochContext(
            scopeID: zone.key.context.scopeID, incarnations: zone.key.context.incarnations, epoch: 1)
        #expect(throws: SealError.keyMismatch, "the same key in another epoch") {
            try EpochKey(zone.key.key, context: context, keyID: zone.key.keyID)
        }
    }

    @Test mutating func `One grant opens all history, key by key`() throws {
        var keys = [zone.key]
        for _ in 0..<3 {
            let draft = try zone.owner.author.next(
                on: zone.roster, changes: [], rotating: true, current: keys[keys.count - 1], time: 1,
                random: &zone.random)
            try zone.roster.append(draft.entry)
            keys.append(try #require(draft.epochKey))
        }
        var key = keys[3]
        for number in (0..<3).reversed() {
            key = try key.openPrevious(zone.roster.epochs[number + 1].previousKey, epoch: zone.roster.epochs[number])
            #expect(key.keyID == zone.roster.epochs[number].keyID)
        }
        #expect(throws: SealError.authenticationFailed, "out of turn") {
            try keys[3].openPrevious(zone.roster.epochs[2].previousKey, epoch: zone.roster.epochs[1])
        }
        #expect(throws: SealError.keyMismatch, "another epoch than the one before") {
            try keys[3].openPrevious(zone.roster.epochs[3].previousKey, epoch: zone.roster.epochs[1])
        }
    }

    @Test mutating func `The whole way: invited, accepted, removed`() throws {
        let keys = try invitationKeys()
        let sealed = try invite(keys, invitee: nil)
        #expect(zone.roster.invitations[keys.id] != nil)
        let opened = try Grants<XWingHPKE>.open(sealed, epoch: zone.roster.currentEpoch, invitation: keys, keys: nil)
        let acceptance = try alice.author.accept(
            keys, on: zone.roster, identity: alice.identity, epochKey: opened, time: 1)
        try zone.roster.append(acceptance.entry)
        #expect(zone.roster.permission(of: alice.userID) == .readWrite)
        let own = try Grants<XWingHPKE>.open(
            acceptance.grants[0].sealed, epoch: zone.roster.currentEpoch, as: alice.userID, keys: alice.keys)
        #expect(own.keyID == zone.key.keyID)

        let removal = try zone.owner.author.next(
            on: zone.roster, changes: [.remove(alice.userID)], rotating: true, current: zone.key, time: 1,
            random: &zone.random)
        try zone.roster.append(removal.entry)
        #expect(removal.grants.map { $0.subject } == [.member(zone.owner.userID)], "the removed one is given nothing")
    }

    @Test mutating func `An acceptance with another URL's key is not even written`() throws {
        _ = try invite(invitationKeys(), invitee: nil)
        let invitation = try #require(zone.roster.invitations.values.first)
        let other = try LinkSecret(secret(41)).invitationKeys(scopeID: zone.roster.scopeID, invitationID: invitation.id)
        #expect(throws: SealError.invalidURL) {
            try alice.author.accept(other, on: zone.roster, identity: alice.identity, epochKey: zone.key, time: 1)
        }
    }

    @Test func `An invitee's address opens for its readers, in its scope and invitation`() throws {
        let keys = try invitationKeys()
        let scopeID = zone.roster.scopeID
        let addresses = try SealedAddresses<XWingHPKE>.seal(
            "bob@example.org", scopeID: scopeID, invitationID: keys.id, to: [zone.owner.identity, alice.identity])
        func invitation(_ id: ID16) -> Invitation {
            Invitation(
                id: id, permission: .readOnly, invitee: nil, signingKey: keys.signingKey.verificationKey, grantKey: [],
                grantHash: .zero, sealedAddresses: addresses)
        }
        let good = invitation(keys.id)
        func open(_ invitation: Invitation, _ scopeID: Digest, _ account: Account) throws(SealError) -> String {
            try SealedAddresses<XWingHPKE>.open(invitation, scopeID: scopeID, as: account.userID, keys: account.keys)
        }
        #expect(try open(good, scopeID, alice) == "bob@example.org")
        #expect(try open(good, scopeID, zone.owner) == "bob@example.org")
        #expect(throws: SealError.missingKey) { try open(good, scopeID, bob) }
        #expect(throws: SealError.authenticationFailed) { try open(good, .zero, alice) }
        #expect(throws: SealError.authenticationFailed) { try open(invitation(ID16(prefixOf: .zero)), scopeID, alice) }
    }

    @Test func `A contact opens for the owner alone, for the request that it came with, and is no address`() throws {
        let (scopeID, requestID) = (zone.roster.scopeID, ID16(prefixOf: GrantHash.of([5])))
        let sealed = try SealedContact<XWingHPKE>.seal(
            "Bob", scopeID: scopeID, requestID: requestID, to: zone.owner.identity)
        func open(
            _ sealed: [UInt8], _ scopeID: Digest, _ requestID: ID16, _ account: Account
        ) throws(SealError) -> String {
            try SealedContact<XWingHPKE>.open(
                sealed, scopeID: scopeID, requestID: requestID, as: account.userID, keys: account.keys)
        }
        #expect(try open(sealed, scopeID, requestID, zone.owner) == "Bob")
        #expect(throws: SealError.authenticationFailed) { try open(sealed, scopeID, requestID, alice) }
        #expect(throws: SealError.authenticationFailed) { try open(sealed, .zero, requestID, zone.owner) }
        #expect(throws: SealError.authenticationFailed) { try open(sealed, scopeID, .zero, zone.owner) }
        let address = try SealedAddresses<XWingHPKE>.seal(
            "Bob", scopeID: scopeID, invitationID: requestID, to: [zone.owner.identity])
        #expect(throws: SealError.authenticationFailed) { try open(address[0].sealed, scopeID, requestID, zone.owner) }
    }
}

@Suite(.timeLimit(.minutes(60))) struct LinkTests {
    let link: LinkSecret
    let scope = GrantHash.of([1])
    let url: ShareURL

    init() throws {
        link = try LinkSecret(secret(0xA7))
        url = ShareURL(
            origin: "https://notes.example.org", routingID: ID16(prefixOf: GrantHash.of([2])), secret: link,
            scopeID: scope)
    }

    @Test func `A URL reads back, and names its share`() throws {
        let read = try ShareURL(url.text())
        #expect(read.origin == url.origin)
        #expect(read.routingID == url.routingID)
        #expect(SecretBytes.areEqual(read.secret.bytes, link.bytes))
        try read.check(scopeID: scope)
        #expect(throws: SealError.invalidURL, "another share served behind it") {
            try read.check(scopeID: GrantHash.of([3]))
        }
    }

    @Test func `A URL cut short anywhere is refused`() {
        let text = url.text()
        for count in 0..<text.count {
            #expect(throws: SealError.invalidURL) { try ShareURL(String(text.prefix(count))) }
        }
        #expect(throws: SealError.invalidURL) { try ShareURL(text + "A") }
    }

    @Test func `A URL altered in its form is refused`() throws {
        let text = url.text()
        for altered in [
            text.replacing("https://", with: "ftp://"), text.replacing("/s/", with: "/t/"),
            text.replacing("#", with: "?"),
            text.replacing("#A", with: "#B"), text.replacing("#A", with: "#C"), text + "=", text + " ",
            text.replacing("/s/", with: "/s//"),
        ] {
            #expect(throws: SealError.invalidURL, "\(altered.prefix(60))") { try ShareURL(altered) }
        }
    }

    @Test func `Another letter of the secret part is another secret or another share, and never this one`() throws {
        let text = [Character](url.text())
        let start = try #require(text.firstIndex(of: "#")) + 1
        for index in start..<text.count {
            var altered = text
            altered[index] = altered[index] == "Q" ? "g" : "Q"
            guard let read = try? ShareURL(String(altered)) else { continue }
            let isSame = SecretBytes.areEqual(read.secret.bytes, link.bytes) && (try? read.check(scopeID: scope)) != nil
            #expect(!isSame)
        }
    }

    @Test func `Each scope and invitation has keys of its own`() throws {
        let ids = [ID16(prefixOf: .zero), ID16(prefixOf: scope)]
        var seen: Set<[UInt8]> = []
        for scope in [scope, .zero] {
            for id in ids {
                let keys = try link.invitationKeys(scopeID: scope, invitationID: id)
                seen.insert(keys.signingKey.verificationKey.bytes)
                seen.insert(keys.grantSeed.copyBytes())
            }
        }
        #expect(seen.count == 8)
    }
}
