import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// A batch of the public database: signed by its author, sealed for nobody.
extension ZoneBatch {
    mutating func runPublic(saving: [Record], deleting: [Record.ID]) async throws(SealKitError) {
        guard savePolicy != .restoring else { throw Database.givesNothingBack }
        let scope = try database.zoneScope(zoneID)
        let signer = try database.core.publicSigner()
        var records = passing(saving) { record throws(SealKitError) in
            try RecordRules.check(record)
            try ZoneBatch.checkPublic(record)
        }
        guard goesOn(saving: saving, deleting: deleting) else { return }
        records = try await verifiedPublic(records)
        records = try await uploadAssets(of: records, scope)

        var items = records.map { Item.save($0) }
        items += try await deletions(of: deleting)
        keepDrafts(of: items)
        items = try await notLost(
            items, in: RecordGround.publicDatabase(PublicGround(scope: scope, asked: nil)).place)
        for round in 1...WriteRounds.most where !items.isEmpty {
            items = try await sendPublic(items, in: scope, signer: signer, isLast: round == WriteRounds.most)
        }
    }

    private mutating func sendPublic(
        _ items: [Item], in scope: Scope, signer: (key: SigningKey, chain: IdentityChain), isLast: Bool
    ) async throws(SealKitError) -> [Item] {
        let signed: [SignedRecord]
        let signature: [UInt8]
        do {
            (signed, signature) = try ZoneBatch.sign(items, in: scope, signer)
        } catch {
            let left = try sealable(items, item: \.self, because: error) { item throws(SealError) in
                _ = try ZoneBatch.sign([item], in: scope, signer)
            }
            return left.isEmpty ? [] : try await sendPublic(left, in: scope, signer: signer, isLast: isLast)
        }
        let asked = try await database.core.trust.moment()
        let response = try await send(items, signed, signature: signature, zone: scope, known: RosterEnds([:]))
        let ground = try await PublicGround(scope: scope, asked: asked).with(response.authors, database.core)
        return try await settle(
            items, (signed, signature), response.results, ground: .publicDatabase(ground), isLast: isLast)
    }

    private static func sign(
        _ items: [Item], in scope: Scope, _ signer: (key: SigningKey, chain: IdentityChain)
    ) throws(SealError) -> (records: [SignedRecord], signature: [UInt8]) {
        let writing = PublicWriting(in: scope, by: signer.chain.userID, at: currentTime())
        var drafts: [PublicRecords.Draft] = []
        var fields: [(sent: [Wire.Field], digests: FieldList<Digest>)] = []
        for item in items {
            let own = try publicFields(item)
            fields.append(own)
            drafts.append(
                PublicRecords.Draft(statement: publicStatement(item, writing), fields: own.digests.listed))
        }
        var random = SystemRandom()
        let made = try PublicRecords.sign(drafts, signingKey: signer.key, random: &random)
        var records: [SignedRecord] = []
        for (bytes, own) in zip(made.statements, fields) {
            records.append(try SignedRecord(statementBytes: bytes, fields: own.sent, digests: own.digests))
        }
        return (records, made.signature)
    }

    /// What is right elsewhere, but not here: refused before anything is sent.
    private static func checkPublic(_ record: Record) throws(SealKitError) {
        let name = record.recordID.recordName
        if let key = record.encryptedValues.allKeys().first {
            throw SealKitError(
                .invalidArguments, "record \(name): \(key) is an encrypted value, and the public database has none",
                remedy: "whoever may read there has no key: use a private database, or a plain field")
        }
        guard record.base?.statement.isPublic ?? true else {
            throw SealKitError(
                .invalidArguments, "record \(name) was fetched from another database",
                remedy: "make a new record for the public database, and copy what may be public")
        }
        guard record.parent == nil else {
            throw SealKitError(
                .invalidArguments, "record \(name) has a parent, and the public database has no hierarchies",
                remedy: "use a reference")
        }
        guard record.recordType != Names.shareType, record.recordID.recordName != Names.zoneWideShare else {
            throw SealKitError(
                .badDatabase, "the public database has no shares", remedy: "share zones of the private database")
        }
    }

    /// What came with encoded system fields anybody could have written: nobody signs after it before it is verified.
    private mutating func verifiedPublic(_ records: [Record]) async throws(SealKitError) -> [Record] {
        let waiting = records.filter { $0.base?.isUnverified == true }
        guard !waiting.isEmpty else { return records }
        var known: [Record.ID: Database.Outcome] = [:]
        for (id, outcome) in try await database.look(up: waiting.map(\.recordID), desiredKeys: []) {
            known[id] = outcome
        }
        var verified: [Record] = []
        for var record in records {
            guard let base = record.base, base.isUnverified else {
                verified.append(record)
                continue
            }
            switch known[record.recordID] {
            case .success(.record(let current)) where current.base?.hash == base.hash:
                record.base = current.base
                verified.append(record)
            case .success(.record(let current)):
                fail(
                    .save(record),
                    SealKitError(
                        .serverRecordChanged, "record \(record.recordID.recordName) was changed on the server",
                        remedy: "merge into serverRecord and save that", serverRecord: current, clientRecord: record))
            case .success(.unopened(let there)): fail(.save(record), there.error)
            case .failure(let error): fail(.save(record), error)
            case .success(.deletion), nil:
                fail(.save(record), Database.unknown(record.recordID))
            }
        }
        return verified
    }

    private static func publicFields(
        _ item: Item
    ) throws(SealError) -> (sent: [Wire.Field], digests: FieldList<Digest>) {
        var fields: [Wire.Field] = []
        var digests = FieldList<Digest>()
        guard case .save(let record) = item else { return (fields, digests) }
        for (key, state) in record.fields {
            let field = try PublicWriting.content(
                of: state.writtenInPublic, isChanged: record.changed.contains(key), known: record.base?.digests[key],
                after: record.base?.written)
            guard let field else { continue }
            fields.append(Wire.Field(field, name: key))
            digests[key] = try field.digest(name: key)
        }
        return (fields, digests)
    }

    private static func publicStatement(_ item: Item, _ writing: PublicWriting) -> Statement {
        switch item {
        case .save(let record):
            writing.save(of: item.id.recordName, type: record.recordType, after: record.base?.written)
        case .delete(let id, let base, let type, _):
            writing.deletion(of: id.recordName, type: type, after: base.written)
        }
    }
}

extension Record.FieldState {
    fileprivate var writtenInPublic: PublicWriting.Field {
        switch self {
        case .plain(let value): .plain(value)
        case .encrypted: .encrypted
        case .asset(let asset): .asset(asset.remote?.plain, blob: asset.remote?.blob ?? "")
        case .omitted: .omitted
        }
    }
}
