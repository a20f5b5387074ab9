import SealPrimitives
import SealStatements

/// Statements against a roster: the fuzzer chooses what is claimed, the harness signs. Who may say what is judged again
/// from the zone's story.
enum StatementVerificationTarget: FuzzTarget {
    static let name = "statement-verification"
    static let maximumLength = 256
    static let seeds = [Seed.made([]), .made([8, 1]), .made([6, 2]), .made([3, 1, 1, 5]), .made([8, 0, 2, 17, 3])]

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let zone = World.zone
        let cited = zone.rosters[choices.number(below: zone.rosters.count)]
        let person = choices.oneOf(World.people)
        var statement = Record.statement(cited, by: person.userID)
        for _ in 0..<choices.number(below: 4) { alter(&statement, &choices) }
        var signer = person
        if choices.rarely() { signer = choices.oneOf(World.people) }

        let bytes = statement.canonicalBytes()
        let hash = Statement.hash(bytes)
        let others = (0..<choices.number(below: 6)).map { sampleDigest(UInt8($0)) }
        let index = choices.number(below: others.count + 1)
        var leaves = others
        leaves.insert(hash, at: index)
        let tree = certain("a tree") { try StatementTree(leaves: leaves) }
        let signature = signer.signingKey.sign(StatementTree.signedBytes(root: tree.root, leafCount: leaves.count))
        let proof = StatementProof(
            signature: signature, leafCount: leaves.count, index: index, path: tree.path(to: index))

        var verifier = StatementVerifier(roster: zone.roster)
        let verified = try? verifier.verify(bytes, proof: proof, recordName: "Note-1")
        let isValid = isValid(statement, bytes, zone, signer: signer)
        require((verified != nil) == isValid, "a statement taken or refused wrongly")
        guard let verified else { return }
        require(verified.statement == statement && verified.hash == hash, "another statement than was signed")
        certain("a root that was checked before") { try verifier.verify(bytes, proof: proof, recordName: nil) }
        // Having seen a root does not vouch for another signature over it, nor for another way to it.
        for forged in [
            StatementProof(signature: signature.reversed(), leafCount: leaves.count, index: index, path: proof.path),
            StatementProof(signature: signature, leafCount: leaves.count, index: index, path: proof.path + [.zero]),
            StatementProof(signature: signature, leafCount: leaves.count + 1, index: index, path: proof.path),
        ] {
            refuses("a forged proof") { try verifier.verify(bytes, proof: forged, recordName: nil) }
        }
    }

    /// The zone's story: Bob (1) may write from entry 3 on, Carol (2) may only read; epoch 1 from entry 7, epoch 2 from
    /// 8.
    private static func isValid(_ statement: Statement, _ bytes: [UInt8], _ zone: Zone, signer: Person) -> Bool {
        guard (try? Statement(canonicalBytes: bytes)) != nil, statement.recordName == "Note-1" else { return false }
        let honest = Record.statement(zone.roster, by: statement.author)
        guard statement.container == honest.container, statement.environment == honest.environment,
            statement.owner == honest.owner, statement.zoneName == honest.zoneName, statement.scopeID == honest.scopeID,
            statement.zoneIncarnation == 1, statement.scopeIncarnation == 1,
            statement.revision > 1 || statement.creator == statement.author
        else { return false }
        guard statement.rosterSequence < 9 else { return false }
        let head = RosterEntry.hash(zone.entries[Int(statement.rosterSequence)].bytes)
        guard statement.rosterHead == head else { return false }
        let epoch: UInt32 = statement.rosterSequence < 7 ? 0 : statement.rosterSequence < 8 ? 1 : 2
        guard statement.epoch == epoch else { return false }
        let isOwner = statement.author == World.people[0].userID
        guard isOwner || statement.author == World.people[1].userID && statement.rosterSequence >= 3 else {
            return false
        }
        guard isOwner || (statement.recordType != "cloudkit.share" && statement.formerScope == nil) else {
            return false
        }
        return signer.userID == statement.author && signer.chain.signed.count == 1
    }

    private static func alter(_ statement: inout Statement, _ choices: inout Choices) {
        let person = choices.oneOf(World.people).userID
        switch choices.byte() % 22 {
        case 0: statement.kind = .delete
        case 1: statement.container = choices.name()
        case 2: statement.environment = .development
        case 3: statement.owner = person
        case 4: statement.zoneName = choices.name()
        case 5: statement.zoneIncarnation = choices.number()
        case 6: statement.recordName = choices.flag() ? choices.name() : "cloudkit.zoneshare"
        case 7: statement.recordType = choices.flag() ? choices.name() : "cloudkit.share"
        case 8: statement.creator = person
        case 9: statement.author = person
        case 10: statement.revision = choices.number()
        case 11: statement.previous = choices.digest()
        case 12: statement.scopeID = choices.digest()
        case 13: statement.scopeIncarnation = choices.number()
        case 14: statement.epoch = UInt32(choices.byte() % 4)
        case 15: statement.wrappedKey = choices.bytes(atMost: 80)
        case 16: statement.rosterSequence = choices.flag() ? UInt64(choices.byte() % 12) : choices.number()
        case 17: statement.rosterHead = choices.oneOf(World.zone.rosters).head
        case 18: statement.parent = choices.name()
        case 19: statement.formerScope = .init(scopeID: World.shareScope.id, incarnation: UInt32(choices.byte() & 3))
        case 20: statement.checkpoint = choices.digest()
        default: (statement.kind, statement.wrappedKey) = (.delete, [])
        }
    }
}
