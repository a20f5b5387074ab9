import SealEnvelope
import SealPrimitives
import SealStatements

package enum MoveVectors {
    static func check(_ test: Fields, shared: Fields, type: String) throws(VectorError) {
        switch type {
        case "Successor":
            let (before, bytes) = (try test.bytes("predecessor"), try test.bytes("encoded"))
            let predecessor = try core(Statement(canonicalBytes: before))
            try core(Statement(canonicalBytes: bytes).check(follows: predecessor, hash: Statement.hash(before)))
            try test.expect("hash", .hex(Statement.hash(bytes)))
        case "Later":
            let (before, bytes) = (try test.bytes("seen"), try test.bytes("encoded"))
            let seen = try core(Statement(canonicalBytes: before))
            try core(Statement(canonicalBytes: bytes).check(after: seen, hash: Statement.hash(before)))
            try test.expect("seenHash", .hex(Statement.hash(before)))
            try test.expect("hash", .hex(Statement.hash(bytes)))
        case "Rewrap": try checkRewrap(test, in: try shared.rosters())
        default:
            let (bytes, proof) = (try test.bytes("encoded"), try test.proof())
            let (name, migrating) = (try test.string("recordName"), try test.bool("migrating"))
            var verifier = StatementVerifier(roster: try shared.roster())
            _ = try core(verifier.verify(bytes, proof: proof, recordName: name, migrating: migrating))
        }
    }

    private static func checkRewrap(_ test: Fields, in rosters: [String: Roster]) throws(VectorError) {
        let (record, roster) = try test.signed("record", in: rosters)
        guard let target = rosters[try test.string("into")] else { throw .missing("into") }
        let owner = try test.signingKey(container: roster.scope.container)
        let (digests, time) = (try test.fieldDigests("fields"), try test.number("clientTime", as: Int64.self))
        let (key, newKey) = (try test.epochKey(), try test.epochKey("newKey", context: "newContext"))
        let opener = try core(RecordOpener(record, epochKey: key))
        let draft = try core(
            RecordDraft(
                rewrapping: record, fields: digests, recordKey: opener.recordKey, into: target, by: target.owner,
                clientTime: time))
        var random = ReplayedRandom(try test.bytes("random"))
        let (moved, signature) = try core(
            RecordSealer.seal([draft], epochKey: newKey, signingKey: owner, random: &random))
        try test.expect("encoded", .hex(moved[0].statementBytes))
        try test.expect("signature", .hex(signature))
    }
}
