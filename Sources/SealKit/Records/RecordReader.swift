import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// Turns records from the server into records for the app: verified first, opened afterwards, never the other way round.
struct RecordReader {
    let ground: RecordGround
    let zoneID: RecordZone.ID
    /// The fields that were asked for; nil for all. One of them that comes as a digest is withheld, not absent.
    let desiredKeys: [String]?
    var verifier: RecordGround.Verifier

    init(ground: RecordGround, zoneID: RecordZone.ID, desiredKeys: [String]?) {
        self.ground = ground
        self.zoneID = zoneID
        self.desiredKeys = desiredKeys
        verifier = RecordGround.Verifier(ground)
    }

    enum Outcome {
        case record(Record)
        case deletion(recordName: String, recordType: String, Record.Base)
    }

    struct Reading {
        let outcome: Outcome
        let sighting: TrustStore.Sighting
    }

    /// - Parameter recordName: the record that was asked for; nil in a feed.
    /// - Throws: `unknownRosterHead` when the roster's tail has to be fetched first; otherwise what does not hold.
    mutating func read(_ wire: Sealkit_V1_Record, recordName: String?) throws(SealError) -> Reading {
        if wire.hasDerived { return try derivedDeletion(wire, recordName: recordName) }
        if wire.departed { return try departure(wire, recordName: recordName) }
        let proof = try StatementProof(wire.proof)
        let verified = try verifier.verify([UInt8](wire.statement), proof: proof, recordName: recordName)
        let statement = verified.statement
        guard wire.recordName == statement.recordName, wire.recordType == statement.recordType,
            wire.deleted == (statement.kind == .delete)
        else { throw .wrongContext }

        var digests: [FieldDigest] = []
        var fields: [(name: String, field: WireField)] = []
        digests.reserveCapacity(wire.fields.count)
        fields.reserveCapacity(wire.fields.count)
        for wireField in wire.fields {
            let field = try WireField(wireField)
            digests.append(FieldDigest(name: wireField.name, digest: try field.digest(name: wireField.name)))
            fields.append((wireField.name, field))
        }
        try verified.check(digests)

        let sighting = TrustStore.Sighting(verified, moved: try origin(of: wire, verified))
        guard statement.kind == .save else {
            let base = Record.Base(statement: statement, hash: verified.hash, proof: proof)
            return Reading(
                outcome: .deletion(recordName: statement.recordName, recordType: statement.recordType, base), sighting: sighting)
        }

        let opener = try ground.opener(of: verified)
        var record = Record(
            recordType: statement.recordType, recordID: Record.ID(recordName: statement.recordName, zoneID: zoneID))
        for (name, field) in fields {
            switch field {
            case .digest:
                guard let desiredKeys, !desiredKeys.contains(name) else { throw .fieldMismatch }
                record.fields[name] = .omitted
            case .publicAsset(let asset, let blob):
                // What is private is sealed.
                guard opener == nil else { throw .unsupported }
                let remote = Asset.Remote(content: .plain(asset), blob: blob, recordID: record.recordID, key: name)
                record.fields[name] = .asset(Asset(remote: remote))
            case .stored(let stored, let blob):
                guard let opener else {
                    guard case .plain(let value) = stored else { throw .unsupported }
                    record.fields[name] = .plain(value)
                    continue
                }
                switch try opener.open(stored, name: name) {
                case .plain(let value): record.fields[name] = .plain(value)
                case .encrypted(let value): record.fields[name] = .encrypted(value)
                case .asset(let sealed):
                    record.fields[name] = .asset(Asset(
                            remote: Asset.Remote(content: .sealed(sealed), blob: blob ?? "", recordID: record.recordID, key: name)))
                }
            }
        }
        record.base = Record.Base(
            statement: statement, hash: verified.hash, proof: proof, recordKey: opener?.recordKey,
            digests: Dictionary(uniqueKeysWithValues: digests.map { ($0.name, $0.digest) }), fields: record.fields)
        record.applySystemFields(wire, statement: statement)
        return Reading(outcome: .record(record), sighting: sighting)
    }
}

extension Record {
    /// What the server says (tag and dates) and what the author signed (creator, author, parent).
    mutating func applySystemFields(_ wire: Sealkit_V1_Record, statement: Statement) {
        recordChangeTag = wire.changeTag
        creationDate = Date(microseconds: wire.creationDate)
        modificationDate = Date(microseconds: wire.modificationDate)
        creatorUserRecordID = ID(recordName: statement.creator.recordName)
        lastModifiedUserRecordID = ID(recordName: statement.author.recordName)
        parent = statement.parent.map { Reference(recordName: $0) }
        share = statement.share.map { Reference(recordName: $0) }
    }
}
