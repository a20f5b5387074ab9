package import SealEnvelope
package import SealPrimitives
package import SealStatements

extension Fields {
    package func environment() throws(VectorError) -> Environment {
        guard let environment = Environment(name: try string("environment")) else { throw .missing("environment") }
        return environment
    }

    package func scope(_ key: String = "scope") throws(VectorError) -> Scope {
        let fields = try object(key)
        return Scope(
            container: try fields.string("container"), environment: try fields.environment(),
            owner: try fields.user("owner"),
            zoneName: try fields.string("zoneName"), shareRecordName: try fields.string("shareRecordName"))
    }

    package func entries(_ key: String) throws(VectorError) -> [SignedRosterEntry] {
        try objects(key).map { entry throws(VectorError) in
            SignedRosterEntry(bytes: try entry.bytes("entry"), signature: try entry.bytes("signature"))
        }
    }

    /// The roster that `scope` and `entries` give.
    package func roster(adding more: [SignedRosterEntry] = []) throws(VectorError) -> Roster {
        let entries = try (has("entries") ? entries("entries") : []) + more
        guard let first = entries.first else { throw .missing("entries") }
        let scope = try scope()
        var roster = try core(Roster(opening: first, scope: scope))
        for entry in entries.dropFirst() { try core(roster.append(entry)) }
        return roster
    }

    package func chain(_ key: String, container: String) throws(VectorError) -> IdentityChain {
        let signed = try objects(key).map { link throws(VectorError) in
            SignedIdentity(
                bytes: try link.bytes("identity"), signature: try link.bytes("signature"),
                previousSignature: try link.bytes("previousSignature"))
        }
        return try core(IdentityChain(verifying: signed, container: container))
    }

    package func context(_ key: String = "context") throws(VectorError) -> EpochContext {
        let fields = try object(key)
        return EpochContext(
            scopeID: try fields.digest("scopeID"),
            incarnations: Incarnations(
                zone: try fields.number("zoneIncarnation"), scope: try fields.number("scopeIncarnation")),
            epoch: try fields.number("epoch"))
    }

    package func epochKey(_ key: String = "key", context name: String = "context") throws(VectorError) -> EpochKey {
        var random = ReplayedRandom(try bytes(key))
        return EpochKey(random: &random, context: try context(name))
    }

    package func epoch(_ key: String, of roster: Roster) throws(VectorError) -> Roster.Epoch {
        let index = try int(key)
        guard roster.epochs.indices.contains(index) else { throw .missing(key) }
        return roster.epochs[index]
    }

    package func proof(_ key: String = "proof") throws(VectorError) -> StatementProof {
        let fields = try object(key)
        return StatementProof(
            signature: try fields.bytes("signature"), leafCount: try fields.int("leafCount"),
            index: try fields.int("index"), path: try fields.digests("path"))
    }

    package func fieldDigests(_ key: String) throws(VectorError) -> [FieldDigest] {
        try objects(key).map { field throws(VectorError) in
            FieldDigest(name: try field.string("name"), digest: try field.digest("digest"))
        }
    }

    package func accountSeed(_ key: String = "seed") throws(VectorError) -> AccountSeed {
        let bytes = try secret(key)
        return try core(AccountSeed(bytes))
    }

    package func linkSecret() throws(VectorError) -> LinkSecret {
        let bytes = try secret("linkSecret")
        return try core(LinkSecret(bytes))
    }

    package func verificationKey(_ key: String) throws(VectorError) -> VerificationKey {
        let bytes = try bytes(key)
        return try core(VerificationKey(bytes))
    }

    /// With which the person of `seed` signs in a container.
    package func signingKey(container: String) throws(VectorError) -> SigningKey {
        let seed = try accountSeed()
        return try core(seed.identityKeys(container: container, using: NoGrants.self)).signingKey
    }

    package func statement(_ key: String) throws(VectorError) -> Statement {
        let fields = try object(key)
        return Statement(
            kind: try fields.string("kind") == "delete" ? .delete : .save, container: try fields.string("container"),
            environment: try fields.environment(),
            owner: try fields.user("owner"), zoneName: try fields.string("zoneName"),
            zoneIncarnation: try fields.number("zoneIncarnation"),
            recordName: try fields.string("recordName"), recordType: try fields.string("recordType"),
            creator: try fields.user("creator"),
            author: try fields.user("author"), clientTime: try fields.number("clientTime"),
            revision: try fields.number("revision"),
            previous: try fields.digest("previous"), scopeID: try fields.digest("scopeID"),
            scopeIncarnation: try fields.number("scopeIncarnation"),
            epoch: try fields.number("epoch"),
            formerScope: fields.has("formerScope")
                ? Statement.FormerScope(
                    scopeID: try fields.object("formerScope").digest("scopeID"),
                    incarnation: try fields.object("formerScope").number("incarnation")) : nil,
            wrappedKey: try fields.bytes("wrappedKey"), isKeyCarried: try fields.bool("isKeyCarried"),
            rosterSequence: try fields.number("rosterSequence"),
            rosterHead: try fields.digest("rosterHead"), checkpoint: try fields.digest("checkpoint"),
            parent: fields.has("parent") ? try fields.string("parent") : nil,
            share: fields.has("share") ? try fields.string("share") : nil, salt: try fields.id("salt"),
            fieldsDigest: try fields.digest("fieldsDigest"))
    }

    // MARK: Of a zone and what is beside it

    package func rosters() throws(VectorError) -> [String: Roster] {
        let fields = try object("rosters")
        var rosters: [String: Roster] = [:]
        for name in ["zone", "share", "other"] { rosters[name] = try fields.object(name).roster() }
        return rosters
    }

    /// The verified statement, and the roster that it verifies in.
    package func signed(
        _ key: String, in rosters: [String: Roster]
    ) throws(VectorError) -> (statement: VerifiedStatement, roster: Roster) {
        let fields = try object(key)
        guard let roster = rosters[try fields.string("roster")] else { throw .missing(key) }
        return (try fields.verifiedStatement("statement", in: roster), roster)
    }

    /// With `proof`.
    package func verifiedStatement(_ key: String, in roster: Roster) throws(VectorError) -> VerifiedStatement {
        let (bytes, proof) = (try bytes(key), try proof())
        var verifier = StatementVerifier(roster: roster)
        return try core(verifier.verify(bytes, proof: proof, recordName: nil))
    }
}
