import Foundation
import SealPrimitives
import SealStatements
import SealStorage
package import SealWire
import SwiftProtobuf

/// Sends a code to an address. Whether the address was invited, or is anybody's, is not even looked up here, so neither
/// the answer nor its time can tell; and the sending happens after the answer.
package struct BeginVerification: Sendable {
    private let transactions: Transactions
    private let limits: SendingLimits
    private let refusals: SendingRefusals
    private let addresses: AddressHasher
    private let outbox: Outbox
    private let clock: @Sendable () -> Int64
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - clock: microseconds since 1970.
    ///   - randomBytes: that many bytes that nobody can guess.
    package init(
        transactions: Transactions, limits: SendingLimits, refusals: SendingRefusals, addresses: AddressHasher,
        outbox: Outbox, clock: @escaping @Sendable () -> Int64, randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.transactions = transactions
        self.limits = limits
        self.refusals = refusals
        self.addresses = addresses
        self.outbox = outbox
        self.clock = clock
        self.randomBytes = randomBytes
    }

    /// - Parameters:
    ///   - client: whom limits count beside the account.
    ///   - acceptLanguage: what the client's browser says, where the request names no language.
    /// - Throws: `badContainer`, `invalidArguments`; `serverRejectedRequest` where the server sends nothing to such
    ///   addresses, `serviceUnavailable` where too much waits; `requestRateLimited`; `permissionFailure` without an
    ///   identity in the container.
    package func run(
        _ message: Sealkit_V1_BeginVerificationRequest, by session: Session, from client: [UInt8],
        acceptLanguage: String?
    ) async throws -> Sealkit_V1_BeginVerificationResponse {
        let container = try Names.requireContainer(message.container)
        let routingID = try Self.routingID(message.routingID)
        let address = try Address(message.address)
        let language = try MessageTexts.language(message.language, acceptLanguage: acceptLanguage)
        try checkOutbox(for: address.kind)

        let now = clock()
        let subjects = subjects(account: session.accountID, routingID: routingID, address: address, client: client)
        try refusals.check(subjects, now: now)
        let (id, code) = (randomBytes(PendingVerification.idBytes), Verifications.code(from: randomBytes(8)))
        let codeHash = addresses.codeHasher().hash(code, verification: id, address: message.address)
        let (addressHash, expires) = (addresses.hash(address), now + PendingVerification.lifetime)
        let waiting = WaitingMessage(
            id: try ID16(randomBytes(ID16.byteCount)), kind: address.kind,
            // Sent to as typed: folding case is for comparing only.
            message: CodeMessage(recipient: message.address, code: code, language: language), attempts: 0,
            expires: expires, container: container)
        let blocked = try await transactions.write(as: session, at: .everything) {
            [limits, outbox] connection -> [SendingLimits.Subject: Int64] in
            let identity = try Identities.idAndName(account: session.accountID, container: container, in: connection)
            guard let identity else {
                throw ServerError(
                    .permissionFailure, "The account has no identity in this container yet.",
                    remedy: "Register the identity first.")
            }
            let blocked = try limits.count(subjects, now: now, in: connection)
            guard blocked.isEmpty else { return blocked }
            try Verifications.insert(
                PendingVerification(
                    id: id, account: session.accountID, container: container, userID: identity.userID,
                    routingID: routingID, addressHash: addressHash, kind: address.kind, codeHash: codeHash,
                    expires: expires),
                now: now, in: connection)
            try outbox.store(waiting, in: connection)
            return [:]
        }
        refusals.note(blocked, now: now)
        if let until = blocked.values.max() { throw ServerError.rateLimited(until: until, now: now) }
        outbox.send(waiting)
        return .with {
            $0.verificationID = Data(id)
            $0.expires = expires
        }
    }

    /// Empty, to link an address only.
    private static func routingID(_ bytes: Data) throws(ServerError) -> [UInt8] {
        guard bytes.isEmpty || bytes.count == ID16.byteCount else {
            throw ServerError(
                .invalidArguments, "A routing id has 16 bytes.",
                remedy: "Send the one from the share's URL, or none to link an address to the account.")
        }
        return [UInt8](bytes)
    }

    private func checkOutbox(for kind: Address.Kind) throws(ServerError) {
        guard outbox.carries(kind) else {
            switch kind {
            case .email:
                throw ServerError(
                    .serverRejectedRequest, "This server is not set up to send mail.",
                    remedy: "Ask the server's operator to configure an SMTP relay.")
            case .phone:
                throw ServerError(
                    .serverRejectedRequest, "This server cannot send codes to phones.",
                    remedy: "Use an e-mail address, or ask the server's operator to configure an SMS gateway.")
            }
        }
        guard outbox.hasRoom else {
            throw ServerError(
                .serviceUnavailable, "Too many messages are waiting to be sent.", remedy: "Try again later.",
                retryAfter: 120)
        }
    }

    private func subjects(
        account: Int64, routingID: [UInt8], address: Address, client: [UInt8]
    ) -> [SendingLimits.Subject] {
        let (mailbox, account) = (addresses.hash(address.mailbox), ServerBytes.of(account))
        var subjects: [(SendingLimits.Kind, [UInt8])] = [
            (.address, mailbox), (.account, account), (.client, client),
            (address.kind == .email ? .allMail : .allPhones, []),
            (.accountAndAddress, mailbox + account), (.clientAndAddress, mailbox + client),
        ]
        if !routingID.isEmpty {
            subjects += [
                (.share, routingID), (.accountAndShare, routingID + account), (.clientAndShare, routingID + client),
            ]
        }
        return subjects.map { kind, bytes in
            SendingLimits.Subject(kind: kind, hash: addresses.sendingSubject(kind, bytes))
        }
    }
}
