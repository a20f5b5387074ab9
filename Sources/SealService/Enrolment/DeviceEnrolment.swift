import Foundation
import SealPrimitives
import SealStatements
import SealStorage
package import SealWire
import SwiftProtobuf

/// Passes messages between a device that has the account and one that is to get it. Who shows a ticket is the new
/// device; who has a session, the old one.
package struct DeviceEnrolment: Sendable {
    /// Of what one device seals to the other: seeds, and the heads of some 29,000 rosters.
    package static let mostPackageBytes = 2 << 20

    /// The session of who sends a request; throws where there is none.
    package typealias Asker = () throws(ServerError) -> Session

    private let transactions: Transactions
    private let rates: RequestRates
    private let clock: @Sendable () -> Int64
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - clock: microseconds since 1970.
    ///   - randomBytes: that many bytes that nobody can guess.
    package init(
        transactions: Transactions, rates: RequestRates, clock: @escaping @Sendable () -> Int64,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.transactions = transactions
        self.rates = rates
        self.clock = clock
        self.randomBytes = randomBytes
    }

    /// Begins one, for a device that has no account yet.
    /// - Parameter client: whom limits count.
    /// - Throws: `invalidArguments`, `requestRateLimited`; `serviceUnavailable` where too many are open;
    ///   `constraintViolation` for an id that is taken.
    package func open(
        _ message: Sealkit_V1_OpenEnrolmentRequest, from client: [UInt8]
    ) async throws -> Sealkit_V1_OpenEnrolmentResponse {
        let id = try Self.id(message.enrolmentID)
        let commitment = try Self.bytes(message.commitment, Enrolments.nonceBytes)
        let now = clock()
        try await rates.countForAll(.enrolment, .client(client))
        let ticket = randomBytes(Self.ticketBytes)
        let expires = try await transactions.write(at: .everything) { connection in
            try Enrolments.open(id, ticketHash: Self.hash(ticket), commitment: commitment, now: now, in: connection)
        }
        return .with {
            $0.ticket = Data(ticket)
            $0.expires = expires
        }
    }

    /// Takes one for the account.
    /// - Throws: `invalidArguments`, `requestRateLimited`, `unknownItem`; `constraintViolation` where another account
    ///   has it.
    package func claim(
        _ message: Sealkit_V1_ClaimEnrolmentRequest, by session: Session
    ) async throws -> Sealkit_V1_ClaimEnrolmentResponse {
        let id = try Self.id(message.enrolmentID)
        let now = clock()
        try await rates.countForAll(.enrolment, .account(session.accountID))
        let found = try await transactions.write(as: session, at: .everything) {
            try Enrolments.claim(id, account: session.accountID, now: now, in: $0)
        }
        return .with {
            $0.commitment = found.commitment
            $0.expires = found.expires
        }
    }

    // MARK: Messages, one after the other

    package func answer(_ message: Sealkit_V1_AnswerEnrolmentRequest, by session: Session) async throws {
        let id = try Self.id(message.enrolmentID)
        let answer = try Self.bytes(message.answer, Enrolments.nonceBytes)
        let loginKey = try LoginProof.loginKey(message.loginKey)
        try await put([("answer", answer), ("login_key", loginKey.bytes)], after: nil, id, by: .old(session))
    }

    package func reveal(_ message: Sealkit_V1_RevealEnrolmentRequest, by asker: Asker) async throws {
        let id = try Self.id(message.enrolmentID)
        let key = try Self.bytes(message.grantKey, Enrolments.grantKeyBytes)
        let nonce = try Self.bytes(message.nonce, Enrolments.nonceBytes)
        let side = try Self.side(message.ticket, asker)
        try await put([("grant_key", key), ("nonce", nonce)], after: "answer", id, by: side)
    }

    package func deliver(_ message: Sealkit_V1_DeliverEnrolmentRequest, by session: Session) async throws {
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
    }

    /// What the other device has sent so far.
    package func state(
        _ message: Sealkit_V1_EnrolmentStateRequest, by asker: Asker
    ) async throws -> Sealkit_V1_EnrolmentStateResponse {
        let id = try Self.id(message.enrolmentID)
        let side = try Self.side(message.ticket, asker)
        let now = clock()
        return try await transactions.read { try Enrolments.state(id, of: side, now: now, in: $0) }
    }

    package func end(_ message: Sealkit_V1_EndEnrolmentRequest, by asker: Asker) async throws {
        let id = try Self.id(message.enrolmentID)
        let side = try Self.side(message.ticket, asker)
        try await write(by: side) { try Enrolments.end(id, by: side, in: $0) }
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

    // MARK: What a message says

    private static let ticketBytes = 32

    private static func side(_ ticket: Data, _ asker: Asker) throws(ServerError) -> Enrolments.Side {
        ticket.isEmpty ? .old(try asker()) : .new(ticketHash: hash(try bytes(ticket, ticketBytes)))
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
