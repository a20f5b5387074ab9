import CSodium
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements

/// Sealing 10,000 records of ten 100-byte encrypted fields, next to the bare libsodium calls that the same bytes need:
/// per field one XChaCha20-Poly1305 and one BLAKE2b, per record the wrapped key and the statement's hashes, per batch
/// the tree and one signature.
struct SealingBenchmark {
    static let records = 10_000
    static let batch = 400
    static let fieldNames = (0..<10).map { "field\($0)" }

    let zone: BenchmarkZone
    let values: [[Value]]

    init() throws {
        zone = try BenchmarkZone()
        values = (0..<SealingBenchmark.batch).map { record in
            (0..<10).map { field in .string(String(repeating: "abcdefghij", count: 9) + "\(record)-\(field)-xxxxxxxxxx".prefix(10)) }
        }
    }

    func run(_ report: inout Report) throws {
        let bare = measure { bareCalls() }
        let sealing = try measure { try sealAll() }
        report.ratio("seal 10,000 records of ten 100 B fields", sealing, to: bare, limit: 2, peer: "bare libsodium")
        report.rate("records sealed", Double(SealingBenchmark.records) / sealing, "records/s")

        let (drafts, signature) = try sealBatch()
        let opening = try measure {
            for _ in 0..<(SealingBenchmark.records / SealingBenchmark.batch) { try open(drafts, signature) }
        }
        report.rate("records verified and opened", Double(SealingBenchmark.records) / opening, "records/s")
    }

    private func drafts() -> [RecordDraft] {
        values.enumerated().map { index, values in
            RecordDraft(
                statement: zone.statement(recordName: "record-\(index)"), recordKey: nil,
                fields: zip(SealingBenchmark.fieldNames, values).map { ($0, .encrypted($1)) })
        }
    }

    private func sealBatch() throws -> (records: [SealedRecord], signature: [UInt8]) {
        var random = SystemRandom()
        return try RecordSealer.seal(drafts(), epochKey: zone.epochKey, signingKey: zone.keys.signingKey, random: &random)
    }

    private func sealAll() throws {
        for _ in 0..<(SealingBenchmark.records / SealingBenchmark.batch) { _ = try sealBatch() }
    }

    private func open(_ records: [SealedRecord], _ signature: [UInt8]) throws {
        let tree = try StatementTree(leaves: records.map(\.hash))
        var verifier = StatementVerifier(roster: zone.roster)
        for (index, record) in records.enumerated() {
            let proof = StatementProof(signature: signature, leafCount: tree.leafCount, index: index, path: tree.path(to: index))
            let verified = try verifier.verify(record.statementBytes, proof: proof, recordName: nil)
            var digests: [FieldDigest] = []
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

    /// The limit: the same primitives on the same number of bytes, and nothing else.
    private func bareCalls() {
        var key = [UInt8](repeating: 1, count: 32)
        let nonce = [UInt8](repeating: 2, count: 24)
        let plaintext = [UInt8](repeating: 3, count: 112)
        let fieldData = [UInt8](repeating: 4, count: 98)
        let wrapData = [UInt8](repeating: 5, count: 160)
        let statement = [UInt8](repeating: 6, count: 520)
        let fieldHashInput = [UInt8](repeating: 7, count: 240)
        let fieldsHashInput = [UInt8](repeating: 8, count: 580)
        let contextInput = [UInt8](repeating: 9, count: 160)
        let node = [UInt8](repeating: 10, count: 112)
        var sealed = [UInt8](repeating: 0, count: 200)
        var hash = [UInt8](repeating: 0, count: 32)
        var signature = [UInt8](repeating: 0, count: 64)
        var publicKey = [UInt8](repeating: 0, count: 32)
        var secretKey = [UInt8](repeating: 0, count: 64)
        crypto_sign_keypair(&publicKey, &secretKey)
        for record in 0..<SealingBenchmark.records {
            if record % SealingBenchmark.batch == 0 { crypto_sign_detached(&signature, nil, node, 96, secretKey) }
            randombytes_buf(&key, 32)
            crypto_generichash(&hash, 32, contextInput, UInt64(contextInput.count), nil, 0)
            for _ in 0..<10 {
                crypto_aead_xchacha20poly1305_ietf_encrypt(
                    &sealed, nil, plaintext, UInt64(plaintext.count), fieldData, UInt64(fieldData.count), nil, nonce, key)
                crypto_generichash(&hash, 32, fieldHashInput, UInt64(fieldHashInput.count), nil, 0)
            }
            crypto_aead_xchacha20poly1305_ietf_encrypt(
                &sealed, nil, plaintext, 32, wrapData, UInt64(wrapData.count), nil, nonce, key)
            crypto_generichash(&hash, 32, fieldsHashInput, UInt64(fieldsHashInput.count), nil, 0)
            crypto_generichash(&hash, 32, statement, UInt64(statement.count), nil, 0)
            crypto_generichash(&hash, 32, node, UInt64(node.count), nil, 0)
        }
    }
}

/// A zone with its owner alone, made of real keys.
struct BenchmarkZone {
    let keys: IdentityKeys
    let roster: Roster
    let epochKey: EpochKey

    init() throws {
        var random = SystemRandom()
        keys = try AccountSeed(random: &random).identityKeys(container: "org.sealkit.bench", using: XWingHPKE.self)
        let identity = try keys.firstIdentity(time: 0)
        let scope = Scope(container: "org.sealkit.bench", environment: .production, owner: identity.userID, zoneName: "bench")
        let author = RosterAuthor<XWingHPKE>(user: identity.userID, keys: keys)
        let draft = try author.open(scope, following: nil, identity: identity, time: 0, random: &random)
        roster = try Roster(opening: draft.entry, scope: scope)
        guard let key = draft.epochKey else { throw SealError.missingKey }
        epochKey = key
    }

    func statement(recordName: String) -> Statement {
        let scope = roster.scope
        return Statement(
            kind: .save, container: scope.container, environment: scope.environment, owner: scope.owner,
            zoneName: scope.zoneName, zoneIncarnation: 1, recordName: recordName, recordType: "Note", creator: scope.owner,
            author: scope.owner, clientTime: 0, revision: 1, previous: .zero, scopeID: roster.scopeID, scopeIncarnation: 1,
            epoch: 0, wrappedKey: [], rosterSequence: 0, rosterHead: roster.head, parent: nil, share: nil, salt: .zero,
            fieldsDigest: .zero)
    }
}
