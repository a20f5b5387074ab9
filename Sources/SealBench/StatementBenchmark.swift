import SealEnvelope
import SealPrimitives
import SealStatements

/// What signing costs a record: its statement's bytes and hash, its share of the tree and of the one signature.
struct StatementBenchmark {
    let zone: BenchmarkZone

    func run(_ report: inout Report) throws {
        report.heading(
            "Statements: time a record, sealing left out",
            "Signing: statement encoded and hashed, tree, signature. Verifying: statement decoded, judged, its path, signature."
        )
        let signer = Bare.Signer(500)
        let bare = try measure([{ for _ in 0..<100 { signer.sign() } }, { for _ in 0..<100 { signer.verify() } }])
        report.row("an Ed25519 signature over each, by libsodium", bare[0] / 100 * 1e6, "µs")
        report.row("the same verified", bare[1] / 100 * 1e6, "µs")
        for count in [1, 16, 100, 400] {
            let statements = (0..<count).map { zone.statement(recordName: "record-\($0)") }.map {
                var statement = $0
                statement.wrappedKey = [UInt8](repeating: 1, count: Statement.wrappedKeyBytes)
                return statement
            }
            let rounds = max(1, 400 / count)
            let signed = try sign(statements)
            let times = try measure([
                { for _ in 0..<rounds { _ = try sign(statements) } },
                { for _ in 0..<rounds { try verify(signed) } },
            ])
            let records = Double(count * rounds)
            report.row("signed, \(count) at once", times[0] / records * 1e6, "µs", aim: count == 400 ? .atMost(6) : nil)
            report.row(
                "verified, \(count) at once", times[1] / records * 1e6, "µs", aim: count == 400 ? .atMost(6) : nil)
        }
    }

    private struct Signed {
        let bytes: [[UInt8]]
        let proofs: [StatementProof]
    }

    private func sign(_ statements: [Statement]) throws -> Signed {
        let bytes = statements.map { $0.canonicalBytes() }
        let tree = try StatementTree(leaves: bytes.map { Statement.hash($0) })
        let signature = zone.keys.signingKey.sign(StatementTree.signedBytes(root: tree.root, leafCount: tree.leafCount))
        let proofs = bytes.indices.map {
            StatementProof(signature: signature, leafCount: tree.leafCount, index: $0, path: tree.path(to: $0))
        }
        return Signed(bytes: bytes, proofs: proofs)
    }

    private func verify(_ signed: Signed) throws {
        var verifier = StatementVerifier(roster: zone.roster)
        for (bytes, proof) in zip(signed.bytes, signed.proofs) {
            _ = try verifier.verify(bytes, proof: proof, recordName: nil)
        }
    }
}
