import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// Turns records from the server into records for the app: `RecordReading` has verified them first, and opens them
/// afterwards.
struct RecordReader {
    private let zoneID: RecordZone.ID
    private var reading: RecordReading

    /// - Parameters:
    ///   - desiredKeys: the fields that were asked for; nil for all.
    ///   - refreshes: `unknownHead` is answered.
    init(ground: RecordGround, zoneID: RecordZone.ID, desiredKeys: [String]?, refreshes: Bool = true) {
        self.zoneID = zoneID
        reading = RecordReading(ground, desiredKeys: desiredKeys, refreshes: refreshes)
    }

    var ground: RecordGround { reading.ground }

    mutating func refresh(_ ground: RecordGround) { reading.refresh(ground) }

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

    /// As `RecordReading.read`.
    mutating func read(_ shown: some ShownRecord, recordName: String?) throws(ClientError) -> Reading {
        let read = try reading.read(shown, recordName: recordName)
        return Reading(outcome: outcome(of: read, shown), sighting: read.sighting)
    }

    private func outcome(of read: ReadRecord, _ shown: some ShownRecord) -> Outcome {
        let statement = read.statement
        let base = Record.Base(statement: statement, hash: read.verified.hash, proof: read.proof)
        guard !read.isGone else {
            return .deletion(recordName: statement.recordName, recordType: statement.recordType, base)
        }
        var record = Record(
            recordType: statement.recordType, recordID: Record.ID(recordName: statement.recordName, zoneID: zoneID))
        record.base = base
        record.applySystemFields(shown, statement: statement)
        // From here on whatever does not hold is under its author's signature.
        do throws(SealError) {
            return .record(try opened(read, as: record))
        } catch {
            for shown in read.fields {
                if case .stored(.plain(let value), _) = shown.field { record.fields[shown.name] = .plain(value) }
            }
            return .unopened(UnopenedRecord(record, statement, because: error))
        }
    }

    /// - Parameter record: without fields.
    private func opened(_ read: ReadRecord, as record: Record) throws(SealError) -> Record {
        var fields = FieldList<Record.FieldState>()
        fields.reserveCapacity(read.fields.count)
        let author = read.statement.author
        func remote(_ content: Asset.Remote.Content, _ blob: String, _ name: String) -> Record.FieldState {
            .asset(
                Asset(
                    remote: Asset.Remote(
                        content: content, blob: blob, recordID: record.recordID, key: name, author: author)))
        }
        let key = try reading.open(read) { name, field in
            fields[name] =
                switch field {
                case .plain(let value): .plain(value)
                case .encrypted(let value): .encrypted(value)
                case .asset(let asset, let blob): remote(.sealed(asset), blob, name)
                case .publicAsset(let asset, let blob): remote(.plain(asset), blob, name)
                case .omitted: .omitted
                }
        }
        var record = record
        record.fields = fields
        record.base?.recordKey = key
        record.base?.digests = FieldList(read.digests)
        record.base?.fields = fields
        return record
    }
}

extension Record {
    /// What the server says (tag and dates) and what the author signed (parent, share).
    mutating func applySystemFields(_ shown: some ShownRecord, statement: Statement) {
        recordChangeTag = shown.changeTag
        creationDate = Date(microseconds: shown.creationDate)
        modificationDate = Date(microseconds: shown.modificationDate)
        parent = statement.parent.map { Reference(recordName: $0) }
        share = statement.share.map { Reference(recordName: $0) }
    }
}
