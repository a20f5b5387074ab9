import Foundation
import Hummingbird
import SealPrimitives
import SealWire
import SwiftProtobuf

/// `devices/enrol/…`: passing messages between a device that has the account and one that is to get it.
struct EnrolmentController: Sendable {
    let services: Services

    /// Of what one device seals to the other: seeds, and the heads of some 29,000 rosters.
    static let mostPackageBytes = 2 << 20

    func addRoutes(to router: Router<SealRequestContext>) {
        router.post("1/devices/enrol/open") { try await open($0, $1) }
        router.post("1/devices/enrol/claim") { try await claim($0, $1) }
        router.post("1/devices/enrol/answer") { try await answer($0, $1) }
        router.post("1/devices/enrol/reveal") { try await reveal($0, $1) }
        router.post("1/devices/enrol/deliver") { try await deliver($0, $1) }
        router.post("1/devices/enrol/state") { try await state($0, $1) }
        router.post("1/devices/enrol/end") { try await end($0, $1) }
    }

    private func open(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let message = try await request.decode(Sealkit_V1_OpenEnrolmentRequest.self, context)
        let id = try Self.id(message.enrolmentID)
        let commitment = try Self.bytes(message.commitment, Enrolments.nonceBytes)
        let now = services.clock()
        let client = context.client
        try services.limiter.count(.enrolment, .client(client), rule: services.limits.enrolment, now: now)
        let ticket = services.randomBytes(32)
        let expires = try await services.database.write { connection in
            try Enrolments.open(id, ticketHash: Self.hash(ticket), commitment: commitment, now: now, in: connection)
        }
        return try Response(
            Sealkit_V1_OpenEnrolmentResponse.with {
                $0.ticket = Data(ticket)
                $0.expires = expires
            }, for: request)
    }

    private func claim(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let id = try Self.id(try await request.decode(Sealkit_V1_ClaimEnrolmentRequest.self, context).enrolmentID)
        let now = services.clock()
        try services.limiter.count(.enrolment, .account(session.accountID), rule: services.limits.enrolment, now: now)
        let found = try await services.write(as: session) { try Enrolments.claim(id, account: session.accountID, now: now, in: $0) }
        return try Response(
            Sealkit_V1_ClaimEnrolmentResponse.with {
                $0.commitment = found.commitment
                $0.expires = found.expires
            }, for: request)
    }

    private func answer(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let message = try await request.decode(Sealkit_V1_AnswerEnrolmentRequest.self, context)
        let id = try Self.id(message.enrolmentID)
        let answer = try Self.bytes(message.answer, Enrolments.nonceBytes)
        let loginKey = try LoginProof.loginKey(message.loginKey)
        try await put([("answer", answer), ("login_key", loginKey.bytes)], after: nil, id, by: .old(session))
        return try Response(Sealkit_V1_EnrolmentResponse(), for: request)
    }

    private func reveal(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let message = try await request.decode(Sealkit_V1_RevealEnrolmentRequest.self, context)
        let id = try Self.id(message.enrolmentID)
        let key = try Self.bytes(message.grantKey, Enrolments.grantKeyBytes)
        let nonce = try Self.bytes(message.nonce, Enrolments.nonceBytes)
        let side = try Self.side(message.ticket, context)
        try await put([("grant_key", key), ("nonce", nonce)], after: "answer", id, by: side)
        return try Response(Sealkit_V1_EnrolmentResponse(), for: request)
    }

    private func deliver(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let message = try await request.decode(Sealkit_V1_DeliverEnrolmentRequest.self, context)
        let id = try Self.id(message.enrolmentID)
        guard !message.sealed.isEmpty else {
            throw ServerError(.invalidArguments, "There is nothing to deliver.", remedy: "Send the sealed package.")
        }
        guard message.sealed.count <= Self.mostPackageBytes else {
            throw ServerError(
                .limitExceeded, "The sealed package has more than \(Self.mostPackageBytes) bytes.",
                remedy: "Leave heads of rosters out that are seldom read.")
        }
        try await put([("sealed", [UInt8](message.sealed))], after: "nonce", id, by: .old(session))
        return try Response(Sealkit_V1_EnrolmentResponse(), for: request)
    }

    private func state(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let message = try await request.decode(Sealkit_V1_EnrolmentStateRequest.self, context)
        let id = try Self.id(message.enrolmentID)
        let side = try Self.side(message.ticket, context)
        let now = services.clock()
        let answer = try await services.database.read { try Enrolments.state(id, of: side, now: now, in: $0) }
        return try Response(answer, for: request)
    }

    private func end(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let message = try await request.decode(Sealkit_V1_EndEnrolmentRequest.self, context)
        let id = try Self.id(message.enrolmentID)
        let side = try Self.side(message.ticket, context)
        try await write(by: side) { try Enrolments.end(id, by: side, in: $0) }
        return try Response(Sealkit_V1_EnrolmentResponse(), for: request)
    }

    private func put(
        _ message: [(column: String, bytes: [UInt8])], after earlier: String?, _ id: ID16, by side: Enrolments.Side
    ) async throws {
        let now = services.clock()
        try await write(by: side) { try Enrolments.put(message, after: earlier, id, by: side, now: now, in: $0) }
    }

    private func write(
        by side: Enrolments.Side, _ body: @escaping @Sendable (any SQLConnection) throws -> Void
    ) async throws {
        switch side {
        case .new: try await services.database.write(body)
        case .old(let session): try await services.write(as: session, body)
        }
    }

    /// Who shows a ticket is the new device; who has a session, the old one.
    private static func side(_ ticket: Data, _ context: SealRequestContext) throws(ServerError) -> Enrolments.Side {
        ticket.isEmpty
            ? .old(try context.requireSession()) : .new(ticketHash: hash(try bytes(ticket, 32)))
    }

    private static func hash(_ ticket: [UInt8]) -> [UInt8] { ServerHash.digest(.enrolmentTicket, ticket) }

    private static func id(_ bytes: Data) throws(ServerError) -> ID16 {
        try ID16(wire: bytes, "An enrolment id", remedy: "Send the id that the new device shows.")
    }

    private static func bytes(_ data: Data, _ count: Int) throws(ServerError) -> [UInt8] {
        guard data.count == count else {
            throw ServerError(
                .invalidArguments, "A part of the message has \(data.count) bytes where it has to have \(count).",
                remedy: "Follow the protocol's description of enrolments.")
        }
        return [UInt8](data)
    }
}
