import Foundation
import SealPrimitives
import SealStatements
import SealStorage
package import SealWire
import SwiftProtobuf

/// Takes a code back, signed by the identity that asked for it, and gives a token that says whose the address is. Every
/// try counts, also one that fails: so the transaction never throws for it.
package struct CompleteVerification: Sendable {
    private let transactions: Transactions
    private let rates: RequestRates
    private let codes: CodeHasher
    private let seats: any PlaceholderSeats
    private let tokenIssuer: TokenIssuer
    private let clock: @Sendable () -> Int64
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - tokenIssuer: also says for which origin the code is signed.
    ///   - clock: microseconds since 1970.
    ///   - randomBytes: that many bytes that nobody can guess.
    package init(
        transactions: Transactions, rates: RequestRates, codes: CodeHasher, seats: any PlaceholderSeats,
        tokenIssuer: TokenIssuer, clock: @escaping @Sendable () -> Int64,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.transactions = transactions
        self.rates = rates
        self.codes = codes
        self.seats = seats
        self.tokenIssuer = tokenIssuer
        self.clock = clock
        self.randomBytes = randomBytes
    }

    /// - Throws: `requestRateLimited`; `verificationFailed`, whatever it is that is not right.
    package func run(
        _ message: Sealkit_V1_CompleteVerificationRequest, by session: Session
    ) async throws -> Sealkit_V1_CompleteVerificationResponse {
        let now = clock()
        try await rates.countForAll(.verificationTry, .account(session.accountID))
        let (id, jti) = ([UInt8](message.verificationID), randomBytes(16))
        // None of it is anything that this server has sent or was asked for: it looks like every other failure.
        guard id.count == PendingVerification.idBytes, message.code.utf8.count <= Limits.nameBytes,
            message.address.utf8.count <= Address.mostBytes
        else {
            throw ServerError.wrongProof
        }
        let token = try await transactions.write(as: session, at: .everything) { connection -> String? in
            guard let verification = try Verifications.countTry(id, now: now, in: connection),
                try isProven(verification, by: message, session, in: connection)
            else { return nil }
            try Verifications.delete(id, in: connection)
            try LinkedAddresses.link(
                verification.addressHash, verification.kind, to: session.accountID,
                isDiscoverable: message.isDiscoverable, now: now, in: connection)
            return try tokenIssuer.issue(
                container: verification.container, user: verification.userID, addressHash: verification.addressHash,
                routingID: verification.routingID, invitationID: try seat(verification, in: connection), now: now,
                randomID: jti)
        }
        guard let token else { throw ServerError.wrongProof }
        return .with { $0.token = token }
    }

    /// Whether the code is the one that was sent, and comes from who asked for it, signed together with what it is for.
    private func isProven(
        _ verification: PendingVerification, by message: Sealkit_V1_CompleteVerificationRequest, _ session: Session,
        in connection: any SQLConnection
    ) throws -> Bool {
        guard verification.account == session.accountID,
            let identity = try Identities.find(
                account: session.accountID, container: verification.container, in: connection),
            identity.userID == verification.userID,
            constantTimeEqual(
                codes.hash(message.code, verification: verification.id, address: message.address),
                verification.codeHash)
        else { return false }
        let signed = Challenges.verificationCode(
            origin: tokenIssuer.origin.value, verificationID: verification.id, address: message.address,
            routingID: try verification.share, code: message.code)
        return (try? identity.chain.current.signingKey.verify([UInt8](message.signature), over: signed)) != nil
    }

    /// Which invitation the address may take; nil where none was asked about, or it was not invited.
    private func seat(_ verification: PendingVerification, in connection: any SQLConnection) throws -> ID16? {
        guard !verification.routingID.isEmpty else { return nil }
        return try seats.invitationID(
            routingID: verification.routingID, addressHash: verification.addressHash, in: connection)
    }
}
