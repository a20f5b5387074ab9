import Foundation
import Hummingbird
import SealPrimitives
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// `devices/enrol/…`: passing messages between a device that has the account and one that is to get it.
struct EnrolmentController: Sendable {
    let transactions: Transactions
    let rates: RequestRates
    let clock: @Sendable () -> Int64
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// Of what one device seals to the other: seeds, and the heads of some 29,000 rosters.
    static let mostPackageBytes = 2 << 20

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.devices.openEnrolment) { try await open($0, $1) }
        router.on(Endpoints.devices.claimEnrolment) { try await claim($0, $1) }
        router.on(Endpoints.devices.answerEnrolment) { try await answer($0, $1) }
        router.on(Endpoints.devices.revealEnrolment) { try await reveal($0, $1) }
        router.on(Endpoints.devices.deliverEnrolment) { try await deliver($0, $1) }
        router.on(Endpoints.devices.enrolmentState) { try await state($0, $1) }
        router.on(Endpoints.devices.endEnrolment) { try await end($0, $1) }
    }

    private func open(
        _ message: Sealkit_V1_OpenEnrolmentRequest, _ call: OpenCall
    ) async throws -> Sealkit_V1_OpenEnrolmentResponse {
        let id = try Self.id(message.enrolmentID)
        let commitment = try Self.bytes(message.commitment, Enrolments.nonceBytes)
        let now = clock()
        let client = call.context.client
        try rates.count(.enrolment, .client(client))
        let ticket = randomBytes(32)
        let expires = try await transactions.write(at: .everything) { connection in
            try Enrolments.open(id, ticketHash: Self.hash(ticket), commitment: commitment, now: now, in: connection)
        }
        return Sealkit_V1_OpenEnrolmentResponse.with {
            $0.ticket = Data(ticket)
            $0.expires = expires
        }
    }

    private func claim(
        _ message: Sealkit_V1_ClaimEnrolmentRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_ClaimEnrolmentResponse {
        let session = call.session
        let id = try Self.id(message.enrolmentID)
        let now = clock()
        try rates.count(.enrolment, .account(session.accountID))
        let found = try await transactions.write(as: session, at: .everything) {
            try Enrolments.claim(id, account: session.accountID, now: now, in: $0)
        }
        return Sealkit_V1_ClaimEnrolmentResponse.with {
            $0.commitment = found.commitment
            $0.expires = found.expires
        }
    }

    private func answer(
        _ message: Sealkit_V1_AnswerEnrolmentRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_EnrolmentResponse {
        let session = call.session
        let id = try Self.id(message.enrolmentID)
        let answer = try Self.bytes(message.answer, Enrolments.nonceBytes)
        let loginKey = try LoginProof.loginKey(message.loginKey)
        try await put([("answer", answer), ("login_key", loginKey.bytes)], after: nil, id, by: .old(session))
        return Sealkit_V1_EnrolmentResponse()
    }

    private func reveal(
        _ message: Sealkit_V1_RevealEnrolmentRequest, _ call: OpenCall
    ) async throws -> Sealkit_V1_EnrolmentResponse {
        let id = try Self.id(message.enrolmentID)
        let key = try Self.bytes(message.grantKey, Enrolments.grantKeyBytes)
        let nonce = try Self.bytes(message.nonce, Enrolments.nonceBytes)
        let side = try Self.side(message.ticket, call.context)
        try await put([("grant_key", key), ("nonce", nonce)], after: "answer", id, by: side)
        return Sealkit_V1_EnrolmentResponse()
    }

    private func deliver(
        _ message: Sealkit_V1_DeliverEnrolmentRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_EnrolmentResponse {
        let session = call.session
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
        return Sealkit_V1_EnrolmentResponse()
    }

    private func state(
        _ message: Sealkit_V1_EnrolmentStateRequest, _ call: OpenCall
    ) async throws -> Sealkit_V1_EnrolmentStateResponse {
        let id = try Self.id(message.enrolmentID)
        let side = try Self.side(message.ticket, call.context)
        let now = clock()
        let answer = try await transactions.read { try Enrolments.state(id, of: side, now: now, in: $0) }
        return answer
    }

    private func end(_ message: Sealkit_V1_EndEnrolmentRequest, _ call: OpenCall) async throws
        -> Sealkit_V1_EnrolmentResponse
    {
        let id = try Self.id(message.enrolmentID)
        let side = try Self.side(message.ticket, call.context)
        try await write(by: side) { try Enrolments.end(id, by: side, in: $0) }
        return Sealkit_V1_EnrolmentResponse()
    }

    private func put(
        _ message: [(column: StaticString, bytes: [UInt8])], after earlier: String?, _ id: ID16,
        by side: Enrolments.Side
    ) async throws {
        let now = clock()
        try await write(by: side) { try Enrolments.put(message, after: earlier, id, by: side, now: now, in: $0) }
    }

    private func write(
        by side: Enrolments.Side, _ body: @escaping @Sendable (any SQLConnection) throws -> Void
    ) async throws {
        switch side {
        case .new: try await transactions.write(at: .everything, body)
        case .old(let session): try await transactions.write(as: session, at: .everything, body)
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
