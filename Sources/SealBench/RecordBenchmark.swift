import CSodium
import SealEnvelope
import SealPrimitives
import SealStatements

/// Sealing and opening records, next to the bare libsodium calls that the same bytes need.
struct RecordBenchmark {
    let zone: BenchmarkZone
    private static let fieldCounts = [1, 10, 50]
    private static let sizes = [(16, "16 B"), (100, "100 B"), (1024, "1 KiB"), (65_536, "64 KiB")]

    func run(_ report: inout Report) throws {
        report.heading(
            "Records sealed and opened: time, as a multiple of bare libsodium's",
            """
            Bare: for each field one XChaCha20-Poly1305 over the same padded bytes and associated data and one BLAKE2b over
            the stored field; for each record the wrapped key and the hashes of context, fields, statement and tree; for
            each batch the random bytes and one signature. Nothing is encoded, decoded or allocated.
            """)
        print("  " + Report.right("1 field", 35) + Report.right("10", 9) + Report.right("50", 9))
        var rates: [(String, Double, Double)] = []
        for (size, name) in Self.sizes {
            var sealing: [(column: String, ratio: Double)] = []
            var opening: [(column: String, ratio: Double)] = []
            for count in Self.fieldCounts {
                let cell = try Cell(zone: zone, fields: count, size: size)
                let times = try measure([cell.bareSeal, cell.seal, cell.bareOpen, cell.open])
                sealing.append(("\(count) fields", times[1] / times[0]))
                opening.append(("\(count) fields", times[3] / times[2]))
                if size == 100 {
                    rates.append(("\(count) x 100 B", Double(cell.records) / times[1], Double(cell.records) / times[3]))
                }
            }
            report.ratios("seal, \(name) each", sealing, aim: .atMost(2))
            report.ratios("open, \(name) each", opening, aim: .atMost(2))
        }
        for (name, sealed, opened) in rates {
            report.row("records of \(name) sealed", sealed, "/s")
            report.row("records of \(name) verified and opened", opened, "/s")
        }
    }

    /// Records a second that the core alone seals, and verifies and opens, on one core.
    func rates(fields: Int, size: Int) throws -> (sealed: Double, opened: Double) {
        let cell = try Cell(zone: zone, fields: fields, size: size)
        let times = try measure([cell.seal, cell.open])
        return (Double(cell.records) / times[0], Double(cell.records) / times[1])
    }

    /// One size of record: ours and the limit.
    private final class Cell {
        let zone: BenchmarkZone
        let records: Int
        private let fields: Int
        private let drafts: [RecordDraft]
        private let sealed: [SealedRecord]
        /// As a server sends them along: who opens builds no tree.
        private let proofs: [StatementProof]
        private let field: Bare.Cipher
        private let wrap: Bare.Cipher
        private let fieldHash, contextHash, fieldsHash, statementHash, node: Bare.Hash
        private let signer = Bare.Signer(96)
        private var hash = [UInt8](repeating: 0, count: 32)
        private var pool: [UInt8]

        init(zone: BenchmarkZone, fields: Int, size: Int) throws {
            self.zone = zone
            self.fields = fields
            // Enough work for the clock, and no more than a batch may hold, under one signature.
            records = min(Limits.itemsPerRequest, max(4, (4 << 20) / (fields * (size + 400))))
            let names = (0..<fields).map { "field" + ($0 < 10 ? "0" : "") + "\($0)" }
            let value = Value.data([UInt8](repeating: 0x61, count: size))
            let zone = zone
            drafts = (0..<records).map { index in
                RecordDraft(
                    statement: zone.statement(recordName: "record-\(index)"), recordKey: nil,
                    fields: names.map { ($0, .encrypted(value)) })
            }
            let (sealed, signature) = try zone.seal(drafts)
            self.sealed = sealed
            let tree = try StatementTree(leaves: sealed.map(\.hash))
            proofs = sealed.indices.map { index in
                StatementProof(
                    signature: signature, leafCount: tree.leafCount, index: index, path: tree.path(to: index))
            }
            guard case .stored(.encrypted(_, let bytes)) = sealed[0].fields[0].content else {
                throw SealError.malformed
            }
            let (name, container) = (names[0].utf8.count, BenchmarkZone.container.utf8.count)
            field = Bare.Cipher(bytes.count - AEAD.overhead, data: Bare.pae(22, 32, name, 1))
            wrap = Bare.Cipher(32, data: Bare.pae(20, 32, 4, 4, 4, 32))
            fieldHash = Bare.Hash(Bare.pae(15, name, 1, 1, bytes.count))
            contextHash = Bare.Hash(Bare.pae(24, container, 1, 16, 5, 4, 9, 4))
            fieldsHash = Bare.Hash(16 + 16 + fields * (8 + name + 8 + 32))
            statementHash = Bare.Hash(Bare.pae(19, sealed[0].statementBytes.count))
            node = Bare.Hash(Bare.pae(24, 32, 32))
            pool = [UInt8](repeating: 0, count: records * 48)
        }

        func seal() throws { _ = try zone.seal(drafts) }

        func open() throws {
            var verifier = StatementVerifier(roster: zone.roster)
            for (record, proof) in zip(sealed, proofs) {
                let verified = try verifier.verify(record.statementBytes, proof: proof, recordName: nil)
                var digests: [FieldDigest] = []
                digests.reserveCapacity(fields)
                for (name, content, _) in record.fields {
                    guard case .stored(let field) = content else { continue }
                    digests.append(FieldDigest(name: name, digest: try field.digest(name: name)))
                }
                try verified.check(digests)
                let opener = try RecordOpener(verified, epochKey: zone.epochKey)
                for (name, content, _) in record.fields {
                    guard case .stored(let field) = content else { continue }
                    _ = try opener.open(field, name: name)
                }
            }
        }

        func bareSeal() {
            randombytes_buf(&pool, pool.count)
            for _ in 0..<records {
                for _ in 0..<fields {
                    field.seal()
                    fieldHash.run(into: &hash)
                }
                wrap.seal()
                hashRecord(nodes: 1)
            }
            signer.sign()
        }

        func bareOpen() {
            // The tree's paths are as long as the tree is high.
            let height = Int.bitWidth - (records - 1).leadingZeroBitCount
            for _ in 0..<records {
                for _ in 0..<fields {
                    fieldHash.run(into: &hash)
                    field.open()
                }
                wrap.open()
                hashRecord(nodes: height)
            }
            signer.verify()
        }

        private func hashRecord(nodes: Int) {
            contextHash.run(into: &hash)
            fieldsHash.run(into: &hash)
            statementHash.run(into: &hash)
            for _ in 0..<nodes { node.run(into: &hash) }
        }
    }
}
