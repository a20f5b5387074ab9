import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealKit
@testable import SealServer
@testable import SealService

/// Somebody else's server, with a server-to-server key.
struct ServerKeyClient: Sendable {
    private let keys: IdentityKeys
    let chain: IdentityChain
    let server: RunningServer

    var key: SigningKey { keys.signingKey }
    var user: UserID { chain.userID }
    /// As a person, to write records with.
    var person: Person {
        get throws {
            Person(client: try TestClient(server), keys: keys, chain: chain)
        }
    }

    init(_ server: RunningServer) throws {
        self.server = server
        var random = SystemRandom()
        keys = try AccountSeed(random: &random).identityKeys(container: TestClient.container, using: XWingHPKE.self)
        chain = try keys.firstIdentity(time: 1)
    }

    /// With a key that this account has made.
    static func ready(by owner: Person) async throws -> ServerKeyClient {
        let client = try ServerKeyClient(owner.client.server)
        _ = try await owner.createServerKey(client.chain, signer: client.key)
        return client
    }

    /// One request before it is signed; every part can be another than the one that is signed.
    struct Call: Sendable {
        var method = "POST"
        var path: String
        var body: [UInt8] = []
        var date: String
        var nonce = randomBytes(16)
        var user: UserID
    }

    func call(_ path: String, _ message: some Message) throws -> Call {
        Call(
            path: path, body: try message.serializedBytes(), date: ServerRequests.date(at: server.clock.now), user: user
        )
    }

    func headers(_ call: Call, origin: String? = nil, signer: SigningKey? = nil) throws -> [(String, String)] {
        let signed = ServerRequests.signedBytes(
            origin: origin ?? server.origin, user: call.user, method: call.method, path: call.path, date: call.date,
            nonce: try ID16(call.nonce), body: call.method == "PUT" ? [] : call.body)
        return [
            ("X-SealKit-Key-ID", call.user.recordName), ("X-SealKit-Date", call.date),
            ("X-SealKit-Nonce", Hex.encode(call.nonce)),
            ("X-SealKit-Signature", Hex.encode((signer ?? key).sign(signed))),
        ]
    }

    /// Sends what the headers were made for, or something else; gives the code that it was refused with.
    func send(_ call: Call, headers: [(String, String)], token: String = "") async throws -> (
        code: ErrorCode?, reason: String, body: [UInt8]
    ) {
        var client = try TestClient(server)
        client.token = token
        let answer = try await client.raw(
            call.method, call.path, call.body, headers: headers + [("content-type", "application/x-protobuf")])
        guard answer.status >= 400 else { return (nil, "", answer.body) }
        let failure = try Sealkit_V1_Failure(serializedBytes: answer.body)
        return (failure.errorCode, failure.reason, [])
    }

    func send(_ call: Call) async throws -> (code: ErrorCode?, reason: String, body: [UInt8]) {
        try await send(call, headers: headers(call))
    }

    func save(_ writes: [PublicWrite]) async throws -> [SavedRecord] {
        let (request, statements) = try person.publicRequest(writes)
        let answer = try await send(try call(Person.publicPath("records/modify"), request))
        if let code = answer.code { throw Refusal(status: 0, failure: Sealkit_V1_Failure(code, answer.reason)) }
        return try zip(Sealkit_V1_ModifyRecordsResponse(serializedBytes: answer.body).results, statements).map {
            result, bytes in
            let statement = try Statement(canonicalBytes: bytes)
            return SavedRecord(
                name: result.recordName, tag: result.record.changeTag, revision: statement.revision,
                hash: Statement.hash(bytes), creator: statement.creator, result: result)
        }
    }
}

extension Person {
    func createServerKey(
        _ chain: IdentityChain, name: String = "importer", signer: SigningKey,
        call: String = Person.publicPath("server-keys/create")
    ) async throws -> Sealkit_V1_ServerKey {
        let binding = Challenges.loginBinding(
            container: TestClient.container, loginKey: client.loginKey.verificationKey)
        let request = Sealkit_V1_CreateServerKeyRequest.with {
            $0.name = name
            $0.chain = chain.wire
            $0.loginBinding = Data(signer.sign(binding))
        }
        return try await client.call(call, request, as: Sealkit_V1_CreateServerKeyResponse.self).key
    }

    func serverKeys() async throws -> [Sealkit_V1_ServerKey] {
        try await client.call(
            Person.publicPath("server-keys/list"), Sealkit_V1_ListServerKeysRequest(),
            as: Sealkit_V1_ListServerKeysResponse.self
        ).keys
    }

    func revokeServerKey(_ user: UserID) async throws -> Sealkit_V1_RevokeServerKeyResponse {
        try await client.call(
            Person.publicPath("server-keys/revoke"),
            Sealkit_V1_RevokeServerKeyRequest.with { $0.userRecordName = user.recordName },
            as: Sealkit_V1_RevokeServerKeyResponse.self)
    }
}
