import SealPrimitives
import SealStatements

package enum StatementVectors {
    static func check(_ test: Fields, shared: Fields, type: String) throws(VectorError) {
        let bytes = try test.bytes("encoded")
        if type == "Coding" {
            let statement = try core(Statement(canonicalBytes: bytes))
            try test.expect("statement", .statement(statement))
            try test.expect("encoded", .hex(try test.statement("statement").canonicalBytes()))
            return try test.expect("hash", .hex(Statement.hash(bytes)))
        }
        let (proof, name) = (try test.proof(), try test.string("recordName"))
        var verifier = StatementVerifier(roster: try shared.roster())
        _ = try core(verifier.verify(bytes, proof: proof, recordName: name))
    }
}
