import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

/// A zone with its owner alone, made of real keys.
struct BenchmarkZone {
    static let container = "org.sealkit.bench"
    let keys: IdentityKeys
    let identity: IdentityChain
    let roster: Roster
    let epochKey: EpochKey

    init() throws {
        var random = SystemRandom()
        keys = try AccountSeed(random: &random).identityKeys(container: BenchmarkZone.container, using: XWingHPKE.self)
        identity = try keys.firstIdentity(time: 0)
        let scope = Scope(
            container: BenchmarkZone.container, environment: .production, owner: identity.userID, zoneName: "bench")
        let author = RosterAuthor<XWingHPKE>(user: identity.userID, keys: keys)
        let draft = try author.open(
            scope, following: nil, encryptionScope: .perRecord, identity: identity, time: 0, random: &random)
        roster = try Roster(opening: draft.entry, scope: scope)
        guard let key = draft.epochKey else { throw SealError.missingKey }
        epochKey = key
    }

    func statement(recordName: String) -> Statement {
        let scope = roster.scope
        return Statement(
            kind: .save, container: scope.container, environment: scope.environment, owner: scope.owner,
            zoneName: scope.zoneName, zoneIncarnation: 1, recordName: recordName, recordType: "Note",
            creator: scope.owner,
            author: scope.owner, clientTime: 0, revision: 1, previous: .zero, scopeID: roster.scopeID,
            scopeIncarnation: 1,
            epoch: 0, wrappedKey: [], rosterSequence: 0, rosterHead: roster.head, checkpoint: Checkpoint.none,
            parent: nil, share: nil, salt: .zero,
            fieldsDigest: .zero)
    }

    func seal(_ drafts: [RecordDraft]) throws(SealError) -> (records: [SealedRecord], signature: [UInt8]) {
        var random = SystemRandom()
        return try RecordSealer.seal(drafts, epochKey: epochKey, signingKey: keys.signingKey, random: &random)
    }
}
