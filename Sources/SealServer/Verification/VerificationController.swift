import Foundation
import Hummingbird
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// Proving that an address is one's own: a code goes out, and comes back signed.
struct VerificationController: Sendable {
    let transactions: Transactions
    let rates: RequestRates
    let addresses: AddressHasher
    let clock: @Sendable () -> Int64
    let randomBytes: @Sendable (Int) -> [UInt8]
    let origin: ServerOrigin
    let outbox: Outbox
    let seats: any PlaceholderSeats
    let sendingRefusals: SendingRefusals
    let tokenIssuer: TokenIssuer
    let codes: CodeHasher

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.people.beginVerification) { try await begin($0, $1) }
        router.on(Endpoints.people.completeVerification) { try await complete($0, $1) }
        router.on(Endpoints.server.tokenKeys) { _ in Self.published(tokenIssuer.keys) }
    }

    /// Sends a code. Whether the address was invited, or is anybody's, is not even looked up here, so neither the
    /// answer nor its time can tell; and the sending happens after the answer.
    private func begin(
        _ message: Sealkit_V1_BeginVerificationRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_BeginVerificationResponse {
        let session = call.session
        let container = try Names.requireContainer(message.container)
        let routingID = [UInt8](message.routingID)
        guard routingID.isEmpty || routingID.count == ID16.byteCount else {
            throw ServerError(
                .invalidArguments, "A routing id has 16 bytes.",
                remedy: "Send the one from the share's URL, or none to link an address to the account.")
        }
        let address = try Address(message.address)
        let language = try MessageTexts.language(
            message.language, acceptLanguage: call.request.headers[.acceptLanguage])
        try checkOutbox(for: address)

        let now = clock()
        let id = randomBytes(PendingVerification.idBytes)
        let code = Verifications.code(from: randomBytes(8))
        let addressHash = addresses.hash(address)
        let expires = now + PendingVerification.lifetime
        let subjects = subjects(
            account: session.accountID, routingID: routingID, address: address,
            client: call.context.client)
        try sendingRefusals.check(subjects, now: now)
        let (codeHash, limits, outbox) = (
            codes.hash(code, verification: id, address: message.address), rates.limits.sending, self.outbox
        )
        let waiting = WaitingMessage(
            id: try ID16(randomBytes(ID16.byteCount)), kind: address.kind,
            // Sent to as typed: folding case is for comparing only.
            message: CodeMessage(recipient: message.address, code: code, language: language), attempts: 0,
            expires: expires)
        let blocked = try await transactions.write(as: session, at: .everything) {
            connection -> [SendingLimits.Subject: Int64] in
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
        sendingRefusals.note(blocked, now: now)
        if let until = blocked.values.max() { throw ServerError.rateLimited(until: until, now: now) }
        outbox.send(waiting)
        return Sealkit_V1_BeginVerificationResponse.with {
            $0.verificationID = Data(id)
            $0.expires = expires
        }
    }

    private func checkOutbox(for address: Address) throws(ServerError) {
        guard outbox.carries(address.kind) else {
            switch address.kind {
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

    /// Takes a code back. Every try counts, also one that fails: so the transaction never throws for it.
    private func complete(
        _ message: Sealkit_V1_CompleteVerificationRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_CompleteVerificationResponse {
        let session = call.session
        let now = clock()
        try rates.count(.verificationTry, .account(session.accountID))
        let (id, code, address) = ([UInt8](message.verificationID), message.code, message.address)
        // None of it is anything that this server has sent or was asked for: it looks like every other failure.
        guard id.count == PendingVerification.idBytes, code.utf8.count <= Limits.nameBytes,
            address.utf8.count <= Address.mostBytes
        else {
            throw ServerError.wrongProof
        }
        let (origin, signature) = (origin.value, [UInt8](message.signature))
        let (jti, isDiscoverable) = (randomBytes(16), message.isDiscoverable)
        let token = try await transactions.write(as: session, at: .everything) { [codes] connection -> String? in
            guard let verification = try Verifications.countTry(id, now: now, in: connection),
                verification.account == session.accountID,
                let identity = try Identities.find(
                    account: session.accountID, container: verification.container, in: connection),
                identity.userID == verification.userID,
                constantTimeEqual(codes.hash(code, verification: id, address: address), verification.codeHash),
                Self.isSigned(
                    signature, by: identity.chain.current.signingKey,
                    Challenges.verificationCode(
                        origin: origin, verificationID: id, address: address, routingID: try verification.share,
                        code: code))
            else { return nil }
            try Verifications.delete(id, in: connection)
            try LinkedAddresses.link(
                verification.addressHash, verification.kind, to: session.accountID, isDiscoverable: isDiscoverable,
                now: now,
                in: connection)
            let seat =
                verification.routingID.isEmpty
                ? nil
                : try seats.invitationID(
                    routingID: verification.routingID, addressHash: verification.addressHash, in: connection)
            return try tokenIssuer.issue(
                container: verification.container, user: verification.userID, addressHash: verification.addressHash,
                routingID: verification.routingID, invitationID: seat, now: now, randomID: jti)
        }
        guard let token else { throw ServerError.wrongProof }
        return Sealkit_V1_CompleteVerificationResponse.with { $0.token = token }
    }

    private static func isSigned(_ signature: [UInt8], by key: VerificationKey, _ message: PAE) -> Bool {
        do {
            try key.verify(signature, over: message)
            return true
        } catch {
            return false
        }
    }

    /// The public halves.
    static func published(_ keys: TokenKeys) -> Sealkit_V1_TokenKeysResponse {
        .with {
            $0.keys = keys.all.map { key in
                .with {
                    $0.keyID = key.id
                    $0.publicKey = Data(key.signingKey.verificationKey.bytes)
                }
            }
        }
    }
}
