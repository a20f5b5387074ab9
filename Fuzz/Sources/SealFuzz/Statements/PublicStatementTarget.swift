import SealEnvelope
import SealPrimitives
import SealStatements

/// Statements of the public database: bytes as they come, signed by whom they name, and made ones with the fuzzer's
/// faults.
enum PublicStatementTarget: FuzzTarget {
    static let name = "public-statement"
    static let seeds =
        [Seed.made([]), .made([1]), .made([0, 6, 1, 2]), .made([0, 0, 2, 5, 0, 9])]
        + [Seed.hex("public", "encoded", prefix: [0xFF]), .hex("public", "statements", prefix: [0xFF])]
    private static let record = "Place-1"

    static func run(_ input: [UInt8]) {
        if input.first == 0xFF { return hostile(Array(input.dropFirst())) }
        var choices = Choices(input)
        let author = choices.oneOf(World.people)
        var statement = honest(by: author.userID)
        sign(statement, by: author, &choices)
        for _ in 0..<choices.number(below: 3) { alter(&statement, &choices) }
        // Any generation's key is good: there are no epochs.
        let signer = choices.often() ? choices.oneOf(World.people).signingKey : choices.oneOf(keys(of: author))
        let chain = choices.often() ? choices.oneOf(World.people).chain : author.chain
        let bytes = statement.canonicalBytes()
        let verified = verify(bytes, Record.sign(bytes, by: signer), chain)
        let isValid = isValid(statement, chain) && chain.signingKeys.contains(signer.verificationKey)
        require((verified != nil) == isValid, "a public statement taken or refused wrongly")
        require(
            verified.map { $0.statement == statement && $0.hash == Statement.hash(bytes) } ?? true, "another statement")
    }

    private static func hostile(_ bytes: [UInt8]) {
        for author in World.people {
            refuses("a public statement that nobody signed") {
                try PublicStatements.verify(
                    bytes, proof: StatementProof(signature: Array(bytes.prefix(64)), leafCount: 1, index: 0, path: []),
                    author: author.chain, container: World.container, environment: .production, recordName: nil)
            }
        }
        guard let statement = try? Statement(canonicalBytes: bytes) else { return }
        let author = World.people.first { $0.userID == statement.author } ?? World.people[0]
        let verified = verify(bytes, Record.sign(bytes, by: author.signingKey), author.chain)
        require((verified != nil) == isValid(statement, author.chain), "a public statement taken or refused wrongly")
    }

    private static func verify(_ bytes: [UInt8], _ signature: [UInt8], _ chain: IdentityChain) -> VerifiedStatement? {
        let check = { (signature: [UInt8], name: String?, path: [Digest]) in
            try PublicStatements.verify(
                bytes, proof: StatementProof(signature: signature, leafCount: 1, index: 0, path: path), author: chain,
                container: World.container, environment: .production, recordName: name)
        }
        guard let verified = try? check(signature, record, []) else { return nil }
        refuses("another signature", with: .invalidSignature) { try check(signature.reversed(), nil, []) }
        refuses("another record", with: .wrongContext) { try check(signature, record + "0", []) }
        refuses("another path", with: .invalidProof) { try check(signature, nil, [.zero]) }
        return verified
    }

    private static func isValid(_ statement: Statement, _ chain: IdentityChain) -> Bool {
        guard (try? Statement(canonicalBytes: statement.canonicalBytes())) != nil else { return false }
        // What the encoding demands of it is judged there.
        return statement.scopeID == .zero && statement.container == World.container
            && statement.environment == .production
            && statement.owner.recordName == "_00000000000000000000000000000000" && statement.zoneName == "_defaultZone"
            && statement.recordName == record && (statement.revision > 1 || statement.creator == statement.author)
            && statement.author == chain.userID
            // Nothing of a share, and somebody's own record is that person's.
            && statement.share == nil && statement.recordType != "cloudkit.share"
            && statement.recordName != "cloudkit.zoneshare"
            && (statement.recordType != "Users" || statement.recordName == chain.userID.recordName)
            // Nothing goes along with a deletion.
            && (statement.kind == .save || statement.fieldsDigest == TakenRecords.none.digest)
    }

    /// Through the signer: what it makes holds.
    private static func sign(_ statement: Statement, by author: Person, _ choices: inout Choices) {
        var random = FixedRandom()
        let fields = (0..<choices.number(below: 4)).map { FieldDigest(name: "f\($0)", digest: sampleDigest(UInt8($0))) }
        let drafts = (0...choices.number(below: 3)).map { _ in PublicRecords.Draft(statement: statement, fields: fields)
        }
        let signed = certain("public records") {
            try PublicRecords.sign(drafts, signingKey: author.signingKey, random: &random)
        }
        let tree = certain("a tree") { try StatementTree(leaves: signed.statements.map { Statement.hash($0) }) }
        for (index, bytes) in signed.statements.enumerated() {
            let proof = StatementProof(
                signature: signed.signature, leafCount: drafts.count, index: index, path: tree.path(to: index))
            certain("a public record") {
                try PublicStatements.verify(
                    bytes, proof: proof, author: author.chain, container: World.container, environment: .production,
                    recordName: record
                ).check(fields)
            }
        }
    }

    private static func keys(of person: Person) -> [SigningKey] {
        person.chain.signingKeys.compactMap { World.keyring[$0]?.signingKey }
    }

    private static func honest(by author: UserID) -> Statement {
        var statement = Record.statement(World.zone.roster, by: author)
        (statement.owner, statement.zoneName, statement.zoneIncarnation) = (UserID(.zero), Names.defaultZone, 1)
        (statement.scopeID, statement.scopeIncarnation, statement.epoch) = (.zero, 0, 0)
        (statement.rosterSequence, statement.rosterHead, statement.wrappedKey) = (0, .zero, [])
        (statement.recordName, statement.recordType) = (record, "Place")
        return statement
    }

    private static func alter(_ statement: inout Statement, _ choices: inout Choices) {
        let person = choices.oneOf(World.people).userID
        switch choices.byte() % 19 {
        case 0: statement.kind = .delete
        case 1: statement.container = choices.name()
        case 2: statement.environment = .development
        case 3: statement.owner = person
        case 4: statement.zoneName = choices.name()
        case 5: statement.zoneIncarnation = choices.number()
        case 6: statement.recordName = choices.name()
        case 7: statement.creator = person
        case 8: statement.author = person
        case 9: (statement.revision, statement.previous) = (2, choices.digest())
        case 10: statement.scopeID = choices.digest()
        case 11: statement.scopeIncarnation = choices.number()
        case 12: statement.epoch = choices.number()
        case 13: statement.wrappedKey = choices.bytes(atMost: 72)
        case 14: statement.rosterSequence = choices.number()
        case 15: statement.rosterHead = choices.digest()
        case 16: statement.formerScope = .init(scopeID: choices.digest(), incarnation: 1)
        case 17: statement.checkpoint = choices.digest()
        default: statement.recordType = choices.name()
        }
    }
}
