import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealWire
import SwiftProtobuf
import Synchronization

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
    private let handed = Mutex(Handed())

    private struct Handed {
        /// From the first time on that it was sent: again it is the same.
        var sealed: [UInt8]?
        /// An answer, or the list of devices, has said that it is there.
        var isCertain = false
    }

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
    ///
    /// After `serverResponseLost` or `networkFailure` the account may have been handed over: call it again, or look
    /// whether the new device is among `Account.devices()`.
    /// - Throws: as `comparison()`; `limitExceeded` when this device knows more rosters than go along;
    ///   `constraintViolation` where the account has taken new keys meanwhile, and the enrolment is ended.
    public func confirm() async throws(SealKitError) {
        do { try await hand(over: try await transcript().confirmedByUser()) } catch { try await settle(error) }
    }

    /// As `confirm()`, when this device has scanned the transcript off the new one.
    /// - Throws: `integrityFailure` also when the transcripts differ; then the enrolment is ended.
    public func confirm(scanned text: String) async throws(SealKitError) {
        let seen: Enrolment.Transcript
        do { seen = try await transcript() } catch { return try await settle(error) }
        let confirmed: Enrolment.Confirmed
        do { confirmed = try seen.confirmed(scanning: text) } catch {
            await cancel()
            throw error
        }
        do { try await hand(over: confirmed) } catch { try await settle(error) }
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
        // Those of the login key that both devices have compared: more may come at any moment.
        let seeds = account.seeds
        guard account.session.publicKey == loginKey else {
            await cancel()
            throw SealKitError(
                .constraintViolation, "this account has taken new keys since the enrolment began",
                remedy: "begin the enrolment again on the new device")
        }
        let sealed: [UInt8]
        if let sent = handed.withLock({ $0.sealed }) {
            sealed = sent
        } else {
            sealed = try await seal(seeds, to: confirmed)
        }
        // Before it is there: to this device the new one is no news.
        try await account.deviceKeeper.trust?.expect(mailbox.id, account: account.deviceKeeper.account)
        let request = Sealkit_V1_DeliverEnrolmentRequest.with {
            $0.enrolmentID = Data(mailbox.id.bytes)
            $0.sealed = Data(sealed)
        }
        handed.withLock { $0.sealed = sealed }
        _ = try await mailbox.send(Endpoints.devices.deliverEnrolment, request)
        handed.withLock { $0.isCertain = true }
        mailbox.turn.end()
    }

    private func seal(
        _ seeds: [AccountSeed], to confirmed: Enrolment.Confirmed
    ) async throws(SealKitError) -> [UInt8] {
        let heads = try await account.deviceKeeper.trust?.heads() ?? []
        do {
            return try Enrolment.seal(
                Enrolment.Package(seeds: seeds, heads: heads), to: confirmed, using: XWingHPKE.self)
        } catch .invalidLength {
            throw SealKitError(
                .limitExceeded, "this device knows more rosters than can go along with an enrolment",
                remedy: "use the recovery key on the new device")
        } catch {
            throw SealKitError.integrity(error, "the new device's key")
        }
    }

    /// The new device ends the enrolment once it has taken what was sent, though no answer said that it had arrived:
    /// then it is one of the account's, which only its keys can have made it.
    /// - Throws: `failure`, unless it is that.
    private func settle(_ failure: SealKitError) async throws(SealKitError) {
        guard handed.withLock({ $0.sealed != nil && !$0.isCertain }) else { throw failure }
        let (trust, own) = (account.deviceKeeper.trust, account.deviceKeeper.account)
        if failure.code == .unknownItem {
            try? await trust?.expect(mailbox.id, account: own)
            if let devices = try? await account.devices(), devices.contains(where: { $0.id == mailbox.id.hex }) {
                handed.withLock { $0.isCertain = true }
                return
            }
        }
        // A task that was cancelled writes nothing any more.
        let id = mailbox.id
        _ = await Task { try? await trust?.expectNoMore(id, account: own) }.value
        throw failure
    }
}

extension DeviceApproval: CustomStringConvertible {
    public var description: String { "DeviceApproval" }
}
