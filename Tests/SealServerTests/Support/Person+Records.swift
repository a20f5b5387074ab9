import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// One record to save or delete.
struct Write: Sendable {
    var name: String
    var type = "Note"
    var kind = Statement.Kind.save
    var tag = ""
    var revision: UInt64 = 1
    var previous = Digest.zero
    var parent: String?
    var creator: UserID?
    var fields: [(name: String, field: FieldDraft)] = []
    /// Records that this one goes with.
    func going(with targets: String..., field: String? = nil) -> Write {
        var write = self
        // A field is a reference or a list of them, never now one and now the other.
        let field = field ?? (targets.count == 1 ? "owner" : "owners")
        let references = targets.map { Value.reference(ReferenceValue(recordName: $0, action: .deleteSelf)) }
        write.fields.append((field, .plain(references.count == 1 ? references[0] : .list(references))))
        write.fields.sort { FieldSet.isOrdered($0.name, $1.name) }
        return write
    }
    /// The uploads behind asset fields.
    var blobs: [String: String] = [:]
    /// What a deletion takes along.
    var taken = TakenRecords.none

    func taking(_ records: SavedRecord...) throws -> Write {
        var write = self
        write.taken = try TakenRecords(records.map { (recordName: $0.name, hash: $0.hash) })
        return write
    }

    init(_ name: String, _ text: String? = "text", parent: String? = nil) {
        self.name = name
        self.parent = parent
        if let text { fields = [("body", .encrypted(.string(text))), ("pinned", .plain(.int64(1)))] }
    }

    /// The next revision of what was saved.
    init(after saved: SavedRecord, _ text: String? = "more", kind: Statement.Kind = .save) {
        self.init(saved.name, kind == .save ? text : nil)
        self.kind = kind
        tag = saved.tag
        revision = saved.revision + 1
        previous = saved.hash
        creator = saved.creator
    }
}

struct SavedRecord: Sendable {
    let name: String
    var tag: String
    let revision: UInt64
    let hash: Digest
    let creator: UserID
    var result = Sealkit_V1_RecordResult()

    /// From a record as the server sends it.
    init(_ record: Sealkit_V1_Record) throws {
        let bytes = [UInt8](record.statement)
        let statement = try Statement(canonicalBytes: bytes)
        name = record.recordName
        tag = record.deleted ? "" : record.changeTag
        revision = statement.revision
        hash = Statement.hash(bytes)
        creator = statement.creator
    }

    init(name: String, tag: String, revision: UInt64, hash: Digest, creator: UserID, result: Sealkit_V1_RecordResult) {
        (self.name, self.tag, self.revision, self.hash, self.creator, self.result) = (
            name, tag, revision, hash, creator, result
        )
    }
}

extension Sealkit_V1_TakenRecords {
    var names: [String] { records.map(\.record.recordName) }

    func covered() throws -> TakenRecords {
        try TakenRecords(
            records.map { (recordName: $0.record.recordName, hash: Statement.hash([UInt8]($0.record.statement))) })
    }
}

extension Sealkit_V1_RecordResult {
    var code: ErrorCode? { if case .failure(let failure) = outcome { failure.errorCode } else { nil } }
}

extension Person {
    func request(
        _ writes: [Write], in zone: TestZone, atomic: Bool = true, change: (inout Statement) -> Void = { _ in }
    ) throws -> (request: Sealkit_V1_ModifyRecordsRequest, sealed: [SealedRecord]) {
        var random = SystemRandom()
        let drafts = writes.map { write in
            var statement = Statement(
                kind: write.kind, container: TestClient.container, environment: environment, owner: zone.owner,
                zoneName: zone.name, zoneIncarnation: zone.roster.incarnations.zone, recordName: write.name,
                recordType: write.type, creator: write.creator ?? user, author: user, clientTime: 1,
                revision: write.revision, previous: write.previous, scopeID: zone.roster.scopeID,
                scopeIncarnation: zone.roster.incarnations.scope, epoch: zone.key.context.epoch, wrappedKey: [],
                rosterSequence: zone.roster.sequence, rosterHead: zone.roster.head, checkpoint: Checkpoint.none,
                parent: write.parent, share: nil,
                salt: ID16(random: &random), fieldsDigest: .zero)
            change(&statement)
            // What carries fields keeps a key; to the server one is like another.
            let carries = write.fields.contains { if case .carried = $0.field { true } else { false } }
            return RecordDraft(
                statement: statement, recordKey: carries ? SecretBytes(random: &random) : nil, fields: write.fields,
                taking: write.taken)
        }
        let (sealed, signature) = try RecordSealer.seal(
            drafts, epochKey: zone.key, signingKey: keys.signingKey, random: &random)
        var request = Sealkit_V1_ModifyRecordsRequest()
        request.operationID = Data(randomBytes(16))
        request.zone = zone.id(for: self)
        request.atomic = atomic
        request.signature = Data(signature)
        request.records = zip(writes, sealed).map { write, record in
            .with {
                $0.recordName = write.name
                $0.recordType = write.type
                $0.changeTag = write.tag
                $0.statement = Data(record.statementBytes)
                $0.fields = record.fields.map { name, content, _ in
                    switch content {
                    case .stored(let field): WireField.stored(field, blob: write.blobs[name]).wire(name: name)
                    case .carried(let digest): WireField.digest(digest).wire(name: name)
                    }
                }
            }
        }
        return (request, sealed)
    }

    func send(_ request: Sealkit_V1_ModifyRecordsRequest, to zone: TestZone) async throws -> [Sealkit_V1_RecordResult] {
        try await client.call(
            path("records/modify", shared: zone.owner != user), request, as: Sealkit_V1_ModifyRecordsResponse.self
        ).results
    }

    func save(_ writes: [Write], in zone: TestZone, atomic: Bool = true) async throws -> [SavedRecord] {
        let (request, sealed) = try request(writes, in: zone, atomic: atomic)
        return zip(try await send(request, to: zone), sealed).map { result, sealed in
            SavedRecord(
                name: result.recordName, tag: result.record.changeTag, revision: sealed.statement.revision,
                hash: sealed.hash, creator: sealed.statement.creator, result: result)
        }
    }

    /// As a device deletes, without its checks: what the server names is signed with the deletions, and they are sent
    /// again.
    func saveCovering(_ writes: [Write], in zone: TestZone, atomic: Bool = true) async throws -> [SavedRecord] {
        var writes = writes
        while true {
            let saved = try await save(writes, in: zone, atomic: atomic)
            let named = saved.indices.filter { saved[$0].result.hasTaken }
            guard !named.isEmpty else { return saved }
            for index in named { writes[index].taken = try saved[index].result.taken.covered() }
        }
    }

    func codesCovering(_ writes: [Write], in zone: TestZone, atomic: Bool = true) async throws -> [ErrorCode?] {
        try await saveCovering(writes, in: zone, atomic: atomic).map(\.result.code)
    }

    /// The code of each result; nil for success.
    func codes(_ writes: [Write], in zone: TestZone, atomic: Bool = true) async throws -> [ErrorCode?] {
        try await save(writes, in: zone, atomic: atomic).map(\.result.code)
    }

    func lookup(_ names: [String], in zone: TestZone, keys: [String]? = nil) async throws
        -> Sealkit_V1_LookupRecordsResponse
    {
        var request = Sealkit_V1_LookupRecordsRequest()
        request.zone = zone.id(for: self)
        request.recordNames = names
        if let keys { request.desiredKeys.names = keys }
        return try await client.call(
            path("records/lookup", shared: zone.owner != user), request, as: Sealkit_V1_LookupRecordsResponse.self)
    }

    func changes(
        in zone: TestZone, since token: Data = Data(), limit: UInt32 = 0, keys: [String]? = nil
    ) async throws -> Sealkit_V1_RecordChangesResponse {
        var request = Sealkit_V1_RecordChangesRequest()
        request.zone = zone.id(for: self)
        request.token = token
        request.resultsLimit = limit
        if let keys { request.desiredKeys.names = keys }
        return try await client.call(
            path("records/changes", shared: zone.owner != user), request, as: Sealkit_V1_RecordChangesResponse.self)
    }

    /// A record from the server, verified as a client would and opened.
    func open(_ record: Sealkit_V1_Record, in zone: TestZone) throws -> VerifiedStatement {
        var verifier = StatementVerifier(roster: zone.roster)
        let verified = try verifier.verify(
            [UInt8](record.statement), proof: StatementProof(record.proof), recordName: record.recordName)
        try verified.check(
            record.fields.map { FieldDigest(name: $0.name, digest: try WireField($0).digest(name: $0.name)) })
        return verified
    }
}

extension RunningServer {
    /// A server with one user and one zone.
    static func withZone(_ body: @Sendable (Person, TestZone, RunningServer) async throws -> Void) async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            try await body(anna, try await anna.makeZone(), server)
        }
    }
}
