import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealWire
import SwiftProtobuf

extension Account {
    /// Brings this account to another device, which shows an invitation: the half of the device that has the account.
    ///
    /// - Parameter invitation: `DeviceEnrolment.invitation`, as it was copied, scanned or typed.
    /// - Throws: `invalidArguments`; `unknownItem` when there is no such enrolment any more; `constraintViolation` when
    ///   another account has taken it, and while this device answers another one: it does so one at a time, each at its
    ///   user's word.
    public func approveDevice(_ invitation: String) async throws(SealKitError) -> DeviceApproval {
        let id: ID16
        do { id = try EnrolmentInvitation.parse(invitation) } catch {
            throw SealKitError(
                .invalidArguments, "this is not what a device shows that is to be enrolled",
                remedy: "copy the whole of it: 32 digits and letters from a to f, in groups of four")
        }
        return try await DeviceApproval(id, account: self)
    }
}

/// Bringing an account to another device. Nothing is handed over before `confirm()`, which is for the user to say.
public final class DeviceApproval: Sendable {
    private let account: Account
    private let mailbox: EnrolmentMailbox
    private let commitment: Digest
    private let answer: Digest
    private let loginKey: VerificationKey

    fileprivate init(_ id: ID16, account: Account) async throws(SealKitError) {
        self.account = account
        mailbox = EnrolmentMailbox(
            id: id, ticket: nil, client: account.client, account: account,
            turn: try account.deviceKeeper.enrolments.take())
        let claim = Sealkit_V1_ClaimEnrolmentRequest.with { $0.enrolmentID = Data(id.bytes) }
        let claimed: Sealkit_V1_ClaimEnrolmentResponse = try await mailbox.send(Endpoints.devices.claimEnrolment, claim)
        // After the answer: asking may have told that the server knows newer keys.
        loginKey = account.session.publicKey
        // The nonce is drawn once the commitment is here: whoever stands between had to choose before.
        commitment = try verifying("the new device's commitment") { () throws(SealError) in
            try Digest(claimed.commitment)
        }
        var random = SystemRandom()
        answer = Digest(random: &random)
        let (answer, loginKey) = (answer, loginKey)
        let request = Sealkit_V1_AnswerEnrolmentRequest.with {
            $0.enrolmentID = Data(id.bytes)
            $0.answer = Data(answer.bytes)
            $0.loginKey = Data(loginKey.bytes)
        }
        _ = try await mailbox.send(Endpoints.devices.answerEnrolment, request)
    }

    /// Waits until the new device has revealed its key.
    /// - Throws: `integrityFailure` for another key than it had committed to: somebody stands between, and the
    ///   enrolment is ended; `unknownItem` when the other device has ended it, or ten minutes are over;
    ///   `operationCancelled`.
    public func comparison() async throws(SealKitError) -> EnrolmentComparison {
        EnrolmentComparison(try await transcript())
    }

    /// The user has seen that both devices show the same: seals the account's keys to the new device, with the heads of
    /// all rosters that this one has verified.
    /// - Throws: as `comparison()`; `limitExceeded` when this device knows more rosters than go along;
    ///   `constraintViolation` where the account has taken new keys meanwhile, and the enrolment is ended.
    public func confirm() async throws(SealKitError) {
        try await hand(over: try await transcript().confirmedByUser())
    }

    /// As `confirm()`, when this device has scanned the transcript off the new one.
    /// - Throws: `integrityFailure` also when the transcripts differ; then the enrolment is ended.
    public func confirm(scanned text: String) async throws(SealKitError) {
        let seen = try await transcript()
        let confirmed: Enrolment.Confirmed
        do { confirmed = try seen.confirmed(scanning: text) } catch {
            await cancel()
            throw error
        }
        try await hand(over: confirmed)
    }

    /// The codes differ, or the user has had enough.
    public func cancel() async { await mailbox.end() }

    /// The same however often it is asked for: it is held against the commitment each time.
    private func transcript() async throws(SealKitError) -> Enrolment.Transcript {
        let (key, nonce) = try await mailbox.wait { $0.nonce.isEmpty ? nil : ([UInt8]($0.grantKey), $0.nonce) }
        do {
            return try Enrolment.Transcript(
                enrolmentID: mailbox.id, commitment: commitment, answer: answer,
                reveal: Enrolment.Reveal(grantKey: key, nonce: try Digest(nonce)), loginKey: loginKey)
        } catch {
            await cancel()
            throw SealKitError.standsBetween
        }
    }

    private func hand(over confirmed: Enrolment.Confirmed) async throws(SealKitError) {
        guard account.session.publicKey == loginKey else {
            await cancel()
            throw SealKitError(
                .constraintViolation, "this account has taken new keys since the enrolment began",
                remedy: "begin the enrolment again on the new device")
        }
        let heads = try await account.deviceKeeper.trust?.heads() ?? []
        let sealed: [UInt8]
        do {
            sealed = try Enrolment.seal(
                Enrolment.Package(seeds: account.seeds, heads: heads), to: confirmed, using: XWingHPKE.self)
        } catch .invalidLength {
            throw SealKitError(
                .limitExceeded, "this device knows more rosters than can go along with an enrolment",
                remedy: "use the recovery key on the new device")
        } catch {
            throw SealKitError.integrity(error, "the new device's key")
        }
        // Before it is there: to this device the new one is no news.
        try await account.deviceKeeper.trust?.expect(mailbox.id, account: account.deviceKeeper.account)
        let request = Sealkit_V1_DeliverEnrolmentRequest.with {
            $0.enrolmentID = Data(mailbox.id.bytes)
            $0.sealed = Data(sealed)
        }
        _ = try await mailbox.send(Endpoints.devices.deliverEnrolment, request)
        mailbox.turn.end()
    }
}

extension DeviceApproval: CustomStringConvertible {
    public var description: String { "DeviceApproval" }
}
