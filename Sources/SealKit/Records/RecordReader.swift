import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// Turns records from the server into records for the app: verified first, opened afterwards, never the other way
/// round.
struct RecordReader {
    let ground: RecordGround
    let zoneID: RecordZone.ID
    /// The fields that were asked for; nil for all. One of them that comes as a digest is withheld, not absent.
    let desiredKeys: [String]?
    var verifier: RecordVerifier

    init(ground: RecordGround, zoneID: RecordZone.ID, desiredKeys: [String]?) {
        self.ground = ground
        self.zoneID = zoneID
        self.desiredKeys = desiredKeys
        verifier = RecordVerifier(ground)
    }

    enum Outcome {
        case record(Record)
        /// It was signed by somebody who may write, and does not open.
        case unopened(UnopenedRecord)
        case deletion(recordName: String, recordType: String, Record.Base)
    }

    struct Reading {
        let outcome: Outcome
        let sighting: Sighting
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
            if case .digest = field {
                guard let desiredKeys, !desiredKeys.contains(wireField.name) else { throw .fieldMismatch }
            }
            digests.append(FieldDigest(name: wireField.name, digest: try field.digest(name: wireField.name)))
            fields.append((wireField.name, field))
        }
        try verified.check(digests)

        let sighting = Sighting(verified, moved: try origin(of: wire, verified))
        guard statement.kind == .save else {
            let base = Record.Base(statement: statement, hash: verified.hash, proof: proof)
            return Reading(
                outcome: .deletion(recordName: statement.recordName, recordType: statement.recordType, base),
                sighting: sighting)
        }

        var record = Record(
            recordType: statement.recordType, recordID: Record.ID(recordName: statement.recordName, zoneID: zoneID))
        record.base = Record.Base(statement: statement, hash: verified.hash, proof: proof)
        record.applySystemFields(wire, statement: statement)
        // From here on whatever does not hold is under its author's signature.
        do throws(SealError) {
            let opened = try open(fields, of: verified, digests, as: record)
            return Reading(outcome: .record(opened), sighting: sighting)
        } catch {
            for case (let name, .stored(.plain(let value), _)) in fields { record.fields[name] = .plain(value) }
            return Reading(outcome: .unopened(UnopenedRecord(record, statement, because: error)), sighting: sighting)
        }
    }

    /// - Parameter record: without fields.
    private func open(
        _ fields: [(name: String, field: WireField)], of verified: VerifiedStatement, _ digests: [FieldDigest],
        as record: Record
    ) throws(SealError) -> Record {
        let opener = try ground.opener(of: verified)
        let author = verified.statement.author
        var record = record
        record.fields.reserveCapacity(fields.count)
        for (name, field) in fields {
            switch field {
            case .digest:
                record.fields[name] = .omitted
            case .publicAsset(let asset, let blob):
                // What is private is sealed.
                guard opener == nil else { throw .unsupported }
                let remote = Asset.Remote(
                    content: .plain(asset), blob: blob, recordID: record.recordID, key: name, author: author)
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
                    record.fields[name] = .asset(
                        Asset(
                            remote: Asset.Remote(
                                content: .sealed(sealed), blob: blob ?? "", recordID: record.recordID, key: name,
                                author: author)))
                }
            }
        }
        record.base?.recordKey = opener?.recordKey
        record.base?.digests = Dictionary(uniqueKeysWithValues: digests.map { ($0.name, $0.digest) })
        record.base?.fields = record.fields
        return record
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
