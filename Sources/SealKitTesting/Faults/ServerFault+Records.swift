import Foundation
import SealCoding
public import SealKit
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

/// Lies about one record, in whatever shows it: look-ups, feeds, queries, and answers to saves.
extension ServerFault {
    /// One bit of a record's first sealed field is another. Seen as `integrityFailure`.
    public static func flippedBit(in id: Record.ID) -> ServerFault {
        changing(.flippedBit, id) { record, _ in
            let index = try sealedField(of: record)
            switch record.fields[index].content {
            case .encrypted(var value):
                value.sealed[value.sealed.startIndex] ^= 1
                record.fields[index].encrypted = value
            case .omitted(var digest):
                digest[digest.startIndex] ^= 1
                record.fields[index].omitted = digest
            default: throw RecordAnswers.NothingToShow()
            }
        }
    }

    /// A record's first sealed field holds what another record of the zone has in the field of that name. Seen as
    /// `integrityFailure`.
    public static func swappedFields(of id: Record.ID, and other: Record.ID) -> ServerFault {
        changing(.swappedFields, id) { record, call in
            let index = try sealedField(of: record)
            let found = try await RecordAnswers.lookUp(
                other.recordName, zone: id.zoneID.onWire, call, at: call.server)
            guard let field = found.record.fields.first(where: { $0.name == record.fields[index].name }) else {
                throw RecordAnswers.NothingToShow()
            }
            record.fields[index] = field
        }
    }

    /// A record as it is, but its first field that has changed since: that one is as it was. Seen as
    /// `integrityFailure`.
    /// - Parameters:
    ///   - id: the record, which has changed since.
    ///   - snapshot: taken while the device was signed in.
    public static func mixedRevisions(of id: Record.ID, with snapshot: ServerSnapshot) -> ServerFault {
        let then = snapshot.transport
        return changing(.mixedRevisions, id) { record, call in
            let old = try await RecordAnswers.lookUp(id.recordName, zone: id.zoneID.onWire, call, at: then).record
            for index in record.fields.indices {
                if let field = old.fields.first(where: { $0.name == record.fields[index].name }),
                    field != record.fields[index]
                {
                    record.fields[index] = field
                    return
                }
            }
            throw RecordAnswers.NothingToShow()
        }
    }

    /// A record's first sealed field comes as a plain value of the server's. Seen as `integrityFailure`.
    public static func plainField(of id: Record.ID) -> ServerFault {
        changing(.plainField, id) { record, _ in
            record.fields[try sealedField(of: record)].plain = Value.string("the server's words").wire
        }
    }

    /// A record's first field is left out, also where it was asked for. Seen as `integrityFailure`.
    public static func withheldField(of id: Record.ID) -> ServerFault {
        changing(.withheldField, id) { record, _ in
            guard !record.fields.isEmpty else { throw RecordAnswers.NothingToShow() }
            record.fields.removeFirst()
        }
    }

    /// One record is shown as it was, also one that was deleted since; everything else is as it is. Seen as `rollback`
    /// by devices that have seen more of it.
    /// - Parameters:
    ///   - id: the record.
    ///   - snapshot: taken while the device was signed in.
    public static func olderRecord(_ id: Record.ID, from snapshot: ServerSnapshot) -> ServerFault {
        let then = snapshot.transport
        @Sendable func old(_ call: TestNetwork.Call) async throws -> Sealkit_V1_Record {
            let found = try await RecordAnswers.lookUp(id.recordName, zone: id.zoneID.onWire, call, at: then)
            guard case .record(let record) = found.outcome else { throw RecordAnswers.NothingToShow() }
            return record
        }
        return ServerFault(.olderRecord) { call, response in
            if call.isTo("records/lookup") {
                try await RecordAnswers.replace(id, call, &response) { $0 = try await result(old(call)) }
            } else {
                try await RecordAnswers.change(id.zoneID, call, &response) { record in
                    if record.recordName == id.recordName { record = try await old(call) }
                }
            }
        }
    }

    /// A record's statement names another parent than its author signed. Seen as `integrityFailure`.
    public static func movedRecord(_ id: Record.ID, below parent: String?) -> ServerFault {
        changing(.movedRecord, id) { record, _ in
            var statement = try Statement(canonicalBytes: [UInt8](record.statement))
            statement.parent = parent
            record.statement = Data(statement.canonicalBytes())
        }
    }

    /// Look-ups of a record answer with another one of the zone under its name. Seen as `integrityFailure`.
    public static func anotherRecord(_ other: Record.ID, shownAs id: Record.ID) -> ServerFault {
        ServerFault(.anotherRecord) { call, response in
            try await RecordAnswers.replace(id, call, &response) { result in
                let found = try await RecordAnswers.lookUp(
                    other.recordName, zone: id.zoneID.onWire, call, at: call.server)
                var record = found.record
                record.recordName = id.recordName
                result = self.result(record)
            }
        }
    }

    /// A record comes with a signature that its zone's owner has made, but for something else. Seen as
    /// `integrityFailure`.
    public static func borrowedSignature(of id: Record.ID) -> ServerFault {
        changing(.borrowedSignature, id) { record, call in
            guard let entry = try await RosterAnswers.log(of: id.zoneID, call).first else {
                throw RecordAnswers.NothingToShow()
            }
            record.proof.signature = Data(entry.signature)
        }
    }

    /// Look-ups and feeds show a record that nobody has written, in the name of the zone's owner, with the dates,
    /// change tag and position that suit it. Seen as `integrityFailure`.
    public static func inventedRecord(_ id: Record.ID, recordType: String) -> ServerFault {
        let kept = Invented()
        @Sendable func invented(_ call: TestNetwork.Call) async throws -> Sealkit_V1_Record {
            if let record = kept.record.withLock({ $0 }) { return record }
            let record = try await invent(id, recordType, call)
            kept.record.withLock { $0 = record }
            return record
        }
        return ServerFault(.inventedRecord) { call, response in
            if call.isTo("records/lookup") {
                try await RecordAnswers.replace(id, call, &response) { $0 = try await result(invented(call)) }
            } else if response.status < 400, call.isTo("records/changes"),
                id.zoneID.isNamed(by: try Sealkit_V1_RecordChangesRequest(serializedBytes: call.body).zone, call.path)
            {
                var answer = try Sealkit_V1_RecordChangesResponse(serializedBytes: response.body)
                answer.records.append(try await invented(call))
                response.body = try answer.serializedData()
            }
        }
    }

    /// Look-ups say that there is no such record, and show no deletion. Seen as `rollback` by devices that know it;
    /// nothing is deleted by that.
    public static func deniedRecord(_ id: Record.ID) -> ServerFault {
        ServerFault(.deniedRecord) { call, response in
            try await RecordAnswers.replace(id, call, &response) { result in
                result = .with {
                    $0.recordName = id.recordName
                    $0.failure = Sealkit_V1_Failure(.unknownItem, "There is no such record.")
                }
            }
        }
    }

    /// A record is said to have been deleted, with its last statement for a proof, which is none. Seen as
    /// `integrityFailure`.
    public static func unsignedDeletion(of id: Record.ID) -> ServerFault {
        changing(.unsignedDeletion, id) { record, _ in record.deleted = true }
    }

    /// A record is said to have gone with another one, whose signed deletion does not cover it. Seen as
    /// `integrityFailure`, and the record stays.
    /// - Parameters:
    ///   - target: deleted, of the same zone.
    ///   - id: the record, which is still there.
    public static func goneWith(_ target: Record.ID, record id: Record.ID) -> ServerFault {
        changing(.goneWith, id) { record, call in
            let found = try await RecordAnswers.lookUp(
                target.recordName, zone: id.zoneID.onWire, call, at: call.server)
            guard found.hasServerRecord, found.serverRecord.deleted, !found.serverRecord.hasDerived else {
                throw RecordAnswers.NothingToShow()
            }
            record.fields = []
            record.deleted = true
            record.derived.tombstone = found.serverRecord
            record.derived.count = 1
        }
    }

    /// Look-ups answer nothing at all for each record that they are asked for. Seen as `rollback` for what the device
    /// knows, and as `serverRejectedRequest` for the rest.
    public static let emptyAnswers = rewriting(
        .emptyAnswers, "records/lookup", Sealkit_V1_LookupRecordsResponse.self
    ) { _, answer in answer.results = answer.results.map { _ in Sealkit_V1_RecordResult() } }

    /// Look-ups leave out which roster they go by. Seen as `integrityFailure`.
    public static let withheldHead = rewriting(
        .withheldHead, "records/lookup", Sealkit_V1_LookupRecordsResponse.self
    ) { _, answer in answer.scopes = [] }

    // MARK: Making

    private static func changing(
        _ kind: Kind, _ id: Record.ID,
        _ change: @escaping @Sendable (inout Sealkit_V1_Record, TestNetwork.Call) async throws -> Void
    ) -> ServerFault {
        ServerFault(kind) { call, response in
            try await RecordAnswers.change(id, call, &response) { try await change(&$0, call) }
        }
    }

    private static func result(_ record: Sealkit_V1_Record) -> Sealkit_V1_RecordResult {
        .with {
            $0.recordName = record.recordName
            $0.record = record
        }
    }

    /// Also one that was not asked for, of which there is a digest.
    private static func sealedField(of record: Sealkit_V1_Record) throws -> Int {
        let index = record.fields.firstIndex { field in
            switch field.content {
            case .encrypted, .omitted: true
            default: false
            }
        }
        guard let index else { throw RecordAnswers.NothingToShow() }
        return index
    }

    /// What was made up once is shown again.
    private final class Invented: Sendable {
        let record = Mutex<Sealkit_V1_Record?>(nil)
    }

    /// Everything but the owner's signature: that is made with a key of the server's.
    private static func invent(_ id: Record.ID, _ type: String, _ call: TestNetwork.Call) async throws
        -> Sealkit_V1_Record
    {
        let roster = try await RosterAnswers.roster(of: id.zoneID, call)
        var random = SystemRandom()
        let field = WireField.stored(.encrypted(Value.string("").tag, sealed: random.bytes(72)), blob: nil)
            .wire(name: "body")
        let statement = Statement(
            kind: .save, container: roster.scope.container, environment: roster.scope.environment, owner: roster.owner,
            zoneName: roster.scope.zoneName, zoneIncarnation: roster.incarnations.zone, recordName: id.recordName,
            recordType: type, creator: roster.owner, author: roster.owner, clientTime: 0, revision: 1, previous: .zero,
            scopeID: roster.scopeID, scopeIncarnation: roster.incarnations.scope, epoch: roster.currentEpoch.number,
            wrappedKey: random.bytes(Statement.wrappedKeyBytes), rosterSequence: roster.sequence,
            rosterHead: roster.head, checkpoint: Checkpoint.none, parent: nil, share: nil, salt: ID16(random: &random),
            fieldsDigest: try FieldSet.digest([
                FieldDigest(name: field.name, digest: try WireField(field).digest(name: field.name))
            ]))
        let bytes = statement.canonicalBytes()
        let root = try StatementTree(leaves: [Statement.hash(bytes)]).root
        let signature = try SigningKey(seed: SecretBytes(random: &random)).sign(
            StatementTree.signedBytes(root: root, leafCount: 1))
        return .with {
            ($0.recordName, $0.recordType, $0.changeTag) = (id.recordName, type, "trusted")
            ($0.creationDate, $0.modificationDate, $0.position) = (.max, .max, 0)
            $0.statement = Data(bytes)
            $0.proof = StatementProof(signature: signature, leafCount: 1, index: 0, path: []).wire
            $0.fields = [field]
        }
    }
}
