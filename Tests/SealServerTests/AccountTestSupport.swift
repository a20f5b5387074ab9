import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SealCoding
import SealKit
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Time that passes when a test says so.
final class TestClock: Sendable {
    private let time = Mutex(Int64(Date().timeIntervalSince1970) * 1_000_000)
    var now: Int64 { time.withLock { $0 } }
    func set(_ now: Int64) { time.withLock { $0 = now } }
    func advance(seconds: Int64) { time.withLock { $0 += seconds * 1_000_000 } }
}

/// Keeps what would have been sent; can fail first.
final class CapturingMessenger: Messenger {
    private struct State {
        var sent: [OutgoingMessage] = []
        var failures: [MessengerError] = []
        var tries = 0
        var work: (@Sendable () async throws -> Void)?
    }
    private let state = Mutex(State())
    /// What is tried works.
    let canBeTried: Bool

    init(canBeTried: Bool = false) { self.canBeTried = canBeTried }

    func fail(with errors: [MessengerError]) { state.withLock { $0.failures = errors } }
    /// What a relay takes its time for, before each.
    func before(_ work: @escaping @Sendable () async throws -> Void) { state.withLock { $0.work = work } }
    var tries: Int { state.withLock { $0.tries } }
    var sent: [OutgoingMessage] { state.withLock { $0.sent } }

    func send(_ message: OutgoingMessage) async throws {
        try await state.withLock(\.work)?()
        try state.withLock { state in
            state.tries += 1
            if !state.failures.isEmpty { throw state.failures.removeFirst() }
            state.sent.append(message)
        }
    }

    /// Waits for message number `count` and returns the code in it.
    func code(_ count: Int) async throws -> String {
        try await waitUntil("message \(count) is sent") { sent.count >= count }
        return try #require(codes(in: sent[count - 1].body).first)
    }
}

func codes(in text: String) -> [String] {
    text.split(whereSeparator: { !$0.isNumber }).map(String.init).filter { $0.count == 8 }
}

struct TestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Seats as Sharing will have them.
struct StubSeats: PlaceholderSeats {
    let seats: [[UInt8]: (address: [UInt8], id: ID16)]
    func invitationID(routingID: [UInt8], addressHash: [UInt8], in connection: any SQLConnection) throws -> ID16? {
        seats[routingID].flatMap { $0.address == addressHash ? $0.id : nil }
    }
}

extension ID16 {
    static func random() -> ID16 {
        var random = SystemRandom()
        return ID16(random: &random)
    }
}

extension [UInt8] {
    func contains(bytes needle: [UInt8]) -> Bool { Data(self).range(of: Data(needle)) != nil }
}

/// A failure as the client sees it.
struct Refusal: Error, CustomStringConvertible {
    let status: UInt
    let failure: Sealkit_V1_Failure
    var code: ErrorCode? { failure.errorCode }
    var description: String { "\(status) \(failure.code): \(failure.reason)" }
}

extension Sealkit_V1_CreateAccountRequest {
    /// With the proof of a login.
    init(_ login: Sealkit_V1_LoginRequest) {
        self.init()
        loginKey = login.loginKey
        challenge = login.challenge
        time = login.time
        signature = login.signature
        deviceID = login.deviceID
        deviceName = login.deviceName
        deviceAdded = login.deviceAdded
        deviceSignature = login.deviceSignature
    }
}

/// A client: one login key, and an identity in one container.
struct TestClient: Sendable {
    static let container = "org.example.notes"

    var server: RunningServer
    let loginKey: SigningKey
    let signingKey: SigningKey
    let chain: IdentityChain
    var device = ID16.random()
    var deviceName = "test"
    var token = ""
    var forwardedFor: String?

    init(_ server: RunningServer) throws {
        self.server = server
        loginKey = try Self.newKey()
        signingKey = try Self.newKey()
        chain = try IdentityChain(verifying: [Self.identity(signingKey)], container: Self.container)
    }

    static func newKey() throws -> SigningKey {
        var random = SystemRandom()
        return try SigningKey(seed: SecretBytes(random: &random))
    }

    /// One X-Wing key for all: making one costs, and these tests seal nothing to it.
    private static let grantKey: [UInt8] = {
        var random = SystemRandom()
        return (try? XWingHPKE.publicKey(seed: SecretBytes(random: &random))) ?? []
    }()

    static func identity(_ key: SigningKey, container: String = container) -> SignedIdentity {
        let bytes = Identity(
            container: container, generation: 0, signingKey: key.verificationKey,
            grantKey: grantKey, time: 1, previous: .zero
        ).canonicalBytes()
        return SignedIdentity(bytes: bytes, signature: key.sign(Identity.signedBytes(bytes)))
    }

    /// With a session and a registered identity.
    static func ready(_ server: RunningServer) async throws -> TestClient {
        var client = try TestClient(server)
        client.token = try await client.create().token
        _ = try await client.register()
        return client
    }

    func call<Answer: Message>(
        _ path: String, _ message: (any Message)?, as: Answer.Type, token: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: server.origin + path)
        request.method = message == nil ? .GET : .POST
        request.headers.add(name: "Accept", value: "application/x-protobuf")
        let token = token ?? self.token
        if !token.isEmpty { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let forwardedFor { request.headers.add(name: "X-Forwarded-For", value: forwardedFor) }
        if let message {
            request.headers.add(name: "Content-Type", value: "application/x-protobuf")
            request.body = .bytes(ByteBuffer(bytes: try message.serializedBytes() as [UInt8]))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
        let data = Data(buffer: try await response.body.collect(upTo: 1 << 26))
        guard response.status == .ok else {
            throw Refusal(status: response.status.code, failure: try Sealkit_V1_Failure(serializedBytes: data))
        }
        return try Answer(serializedBytes: data)
    }

    func challenge(key: SigningKey? = nil) async throws -> [UInt8] {
        let key = (key ?? loginKey).verificationKey.bytes
        return [UInt8](
            try await call(
                "/1/accounts/challenge", Sealkit_V1_ChallengeRequest.with { $0.loginKey = Data(key) },
                as: Sealkit_V1_ChallengeResponse.self
            ).challenge)
    }

    func loginRequest(
        challenge: [UInt8]? = nil, origin: String? = nil, time: Int64? = nil, signer: SigningKey? = nil
    ) async throws -> Sealkit_V1_LoginRequest {
        let given: [UInt8]
        if let challenge { given = challenge } else { given = try await self.challenge() }
        let time = time ?? server.clock.now
        let signed = Challenges.login(origin: origin ?? server.origin, challenge: given, time: time)
        return .with {
            $0.loginKey = Data(loginKey.verificationKey.bytes)
            $0.challenge = Data(given)
            $0.time = time
            $0.signature = Data((signer ?? loginKey).sign(signed))
            $0.deviceID = Data(device.bytes)
            $0.deviceName = deviceName
            $0.deviceAdded = 1
            $0.deviceSignature = Data(loginKey.sign(Challenges.device(device, name: deviceName, added: 1)))
        }
    }

    func login(_ request: Sealkit_V1_LoginRequest? = nil) async throws -> Sealkit_V1_SessionResponse {
        let message: Sealkit_V1_LoginRequest
        if let request { message = request } else { message = try await loginRequest() }
        return try await call("/1/accounts/login", message, as: Sealkit_V1_SessionResponse.self)
    }

    func create(recovery: Sealkit_V1_RecoveryBundle? = nil, registrationCode: String = "") async throws
        -> Sealkit_V1_SessionResponse
    {
        var request = Sealkit_V1_CreateAccountRequest(try await loginRequest())
        if let recovery { request.recovery = recovery }
        request.registrationCode = registrationCode
        return try await call("/1/accounts/create", request, as: Sealkit_V1_SessionResponse.self)
    }

    func me(token: String? = nil) async throws -> Sealkit_V1_AccountResponse {
        try await call("/1/accounts/me", nil, as: Sealkit_V1_AccountResponse.self, token: token)
    }

    func register(
        chain: Sealkit_V1_IdentityChain? = nil, container: String = container, signer: SigningKey? = nil,
        boundKey: SigningKey? = nil
    ) async throws -> String {
        let binding = Challenges.loginBinding(
            container: container, loginKey: (boundKey ?? loginKey).verificationKey)
        return try await call(
            "/1/accounts/identity",
            Sealkit_V1_RegisterIdentityRequest.with {
                $0.container = container
                $0.chain = chain ?? self.chain.wire
                $0.loginBinding = Data((signer ?? signingKey).sign(binding))
            }, as: Sealkit_V1_RegisterIdentityResponse.self
        ).userRecordName
    }

    func begin(
        _ address: String, routingID: [UInt8] = [], container: String = container, language: String = ""
    ) async throws -> Sealkit_V1_BeginVerificationResponse {
        let begun = try await call(
            "/1/verification/begin",
            Sealkit_V1_BeginVerificationRequest.with {
                $0.container = container
                $0.routingID = Data(routingID)
                $0.address = address
                $0.language = language
            }, as: Sealkit_V1_BeginVerificationResponse.self)
        begunVerifications.withLock { $0[begun.verificationID] = (address, routingID) }
        return begun
    }

    /// - Parameters:
    ///   - signer: who signs in this client's place.
    ///   - address: another one than it was begun with.
    ///   - origin: another one than the server's.
    ///   - routingID: another one than it was begun with.
    func complete(
        _ id: Data, _ code: String, signer: SigningKey? = nil, discoverable: Bool = false, address: String? = nil,
        origin: String? = nil, routingID: [UInt8]? = nil
    ) async throws -> String {
        let begun = begunVerifications.withLock { $0[id] } ?? (address: "a@example.org", routingID: [])
        let routing = routingID ?? begun.routingID
        let signed = Challenges.verificationCode(
            origin: origin ?? server.origin, verificationID: [UInt8](id), address: address ?? begun.address,
            routingID: routing.isEmpty ? nil : try ID16(routing), code: code)
        return try await call(
            "/1/verification/complete",
            Sealkit_V1_CompleteVerificationRequest.with {
                $0.verificationID = id
                $0.address = address ?? begun.address
                $0.code = code
                $0.isDiscoverable = discoverable
                $0.signature = Data((signer ?? signingKey).sign(signed))
            }, as: Sealkit_V1_CompleteVerificationResponse.self
        ).token
    }
}

/// What each verification was begun with, for whoever gives its code back.
private let begunVerifications = Mutex<[Data: (address: String, routingID: [UInt8])]>([:])

/// The code that the call was refused with; nil when it was not.
func refusal(_ body: () async throws -> some Any) async throws -> ErrorCode? {
    do {
        _ = try await body()
        return nil
    } catch let refusal as Refusal {
        #expect(!refusal.failure.reason.isEmpty, "\(refusal)")
        #expect(!refusal.failure.remedy.isEmpty, "\(refusal)")
        return refusal.code
    }
}

/// Checks that the call is refused with a code: for bodies that `refusal` in an `#expect` is not safe in, which
/// `Tests/Support/closures` finds.
func expectRefusal(
    _ code: ErrorCode, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> some Any
) async throws {
    let found = try await refusal(body)
    #expect(found == code, comment, sourceLocation: sourceLocation)
}
