import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealServer
@testable import SealService

/// One record of the public database to save or delete.
struct PublicWrite: Sendable {
    var name: String
    var type = "Note"
    var kind = Statement.Kind.save
    var tag = ""
    var revision: UInt64 = 1
    var previous = Digest.zero
    var creator: UserID?
    var fields: [(name: String, field: WireField)] = []

    init(_ name: String, type: String = "Note", _ text: String? = "text") {
        self.name = name
        self.type = type
        if let text { fields = [("body", .stored(.plain(.string(text)), blob: nil))] }
    }

    /// The next revision of what was saved.
    init(after saved: SavedRecord, type: String = "Note", _ text: String? = "more", kind: Statement.Kind = .save) {
        self.init(saved.name, type: type, kind == .save ? text : nil)
        self.kind = kind
        tag = saved.tag
        revision = saved.revision + 1
        previous = saved.hash
        creator = saved.creator
    }
}

extension Person {
    static func publicPath(_ call: String, environment: String = "development") -> String {
        "/database/1/\(TestClient.container)/\(environment)/public/\(call)"
    }

    func publicRequest(
        _ writes: [PublicWrite], atomic: Bool = true, signer: SigningKey? = nil,
        change: (inout Statement) -> Void = { _ in }
    ) throws -> (request: Sealkit_V1_ModifyRecordsRequest, statements: [[UInt8]]) {
        var random = SystemRandom()
        let drafts = try writes.map { write in
            var statement = Statement(
                kind: write.kind, container: TestClient.container, environment: .development, owner: UserID(.zero),
                zoneName: Names.defaultZone, zoneIncarnation: 1, recordName: write.name, recordType: write.type,
                creator: write.creator ?? user, author: user, clientTime: 1, revision: write.revision,
                previous: write.previous, scopeID: .zero, scopeIncarnation: 0, epoch: 0, wrappedKey: [],
                rosterSequence: 0,
                rosterHead: .zero, checkpoint: Checkpoint.none, parent: nil, share: nil, salt: .zero,
                fieldsDigest: .zero)
            change(&statement)
            let fields = try write.fields.map { FieldDigest(name: $0.name, digest: try $0.field.digest(name: $0.name)) }
            return PublicRecords.Draft(statement: statement, fields: fields)
        }
        let (statements, signature) = try PublicRecords.sign(
            drafts, signingKey: signer ?? keys.signingKey, random: &random)
        var request = Sealkit_V1_ModifyRecordsRequest()
        request.operationID = Data(randomBytes(16))
        request.zone.zoneName = Names.defaultZone
        request.atomic = atomic
        request.signature = Data(signature)
        request.records = zip(writes, statements).map { write, statement in
            .with {
                $0.recordName = write.name
                $0.recordType = write.type
                $0.changeTag = write.tag
                $0.statement = Data(statement)
                $0.fields = write.fields.map { $0.field.wire(name: $0.name) }
            }
        }
        return (request, statements)
    }

    func sendPublic(_ request: Sealkit_V1_ModifyRecordsRequest) async throws -> Sealkit_V1_ModifyRecordsResponse {
        try await client.call(Person.publicPath("records/modify"), request, as: Sealkit_V1_ModifyRecordsResponse.self)
    }

    func savePublic(_ writes: [PublicWrite], atomic: Bool = true) async throws -> [SavedRecord] {
        let (request, statements) = try publicRequest(writes, atomic: atomic)
        return try zip(try await sendPublic(request).results, statements).map { result, bytes in
            let statement = try Statement(canonicalBytes: bytes)
            return SavedRecord(
                name: result.recordName, tag: result.record.changeTag, revision: statement.revision,
                hash: Statement.hash(bytes), creator: statement.creator, result: result)
        }
    }

    /// The code of each result; nil for success.
    func publicCodes(_ writes: [PublicWrite], atomic: Bool = true) async throws -> [ErrorCode?] {
        try await savePublic(writes, atomic: atomic).map(\.result.code)
    }

    func lookupPublic(_ names: [String], keys: [String]? = nil, token: String? = nil) async throws
        -> Sealkit_V1_LookupRecordsResponse
    {
        try await client.lookupPublic(names, keys: keys, token: token)
    }

    /// A record from the server, verified as a reader would by the answer's chains.
    @discardableResult
    static func verifyPublic(
        _ record: Sealkit_V1_Record, authors: [Sealkit_V1_IdentityChain]
    ) throws -> VerifiedStatement {
        let statement = try Statement(canonicalBytes: [UInt8](record.statement))
        let chains = try authors.map { try IdentityChain($0, container: TestClient.container) }
        guard let author = chains.first(where: { $0.userID == statement.author }) else { throw TestFailure("no chain") }
        let verified = try PublicStatements.verify(
            [UInt8](record.statement), proof: StatementProof(record.proof), author: author,
            container: TestClient.container,
            environment: .development, recordName: record.recordName)
        try verified.check(
            record.fields.map { FieldDigest(name: $0.name, digest: try WireField($0).digest(name: $0.name)) })
        return verified
    }
}

extension TestClient {
    /// With a session or, where there is none, as anybody.
    func lookupPublic(_ names: [String], keys: [String]? = nil, token: String? = nil) async throws
        -> Sealkit_V1_LookupRecordsResponse
    {
        var request = Sealkit_V1_LookupRecordsRequest()
        request.recordNames = names
        if let keys { request.desiredKeys.names = keys }
        return try await call(
            Person.publicPath("records/lookup"), request, as: Sealkit_V1_LookupRecordsResponse.self, token: token)
    }

    /// Status and body of a bare request.
    func raw(
        _ method: String, _ path: String, _ body: [UInt8] = [], headers: [(String, String)] = []
    ) async throws -> (status: UInt, body: [UInt8]) {
        var request = HTTPClientRequest(url: server.origin + path)
        request.method = .init(rawValue: method)
        request.headers.add(name: "accept", value: "application/x-protobuf")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if !token.isEmpty { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        if method != "GET" { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
        return (response.status.code, [UInt8](buffer: try await response.body.collect(upTo: 1 << 26)))
    }
}
