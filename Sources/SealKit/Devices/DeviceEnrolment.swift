import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

/// Bringing an account to this device from one that has it: this device's half.
///
/// <!-- swift: func userSaysThatBothShow(_ code: String) -> Bool {} -->
/// ```swift
/// let enrolment = try await DeviceEnrolment.begin(transport: transport)
/// show(enrolment.invitation)                       // the other device: account.approveDevice(_:)
/// let comparison = try await enrolment.comparison()
/// if userSaysThatBothShow(comparison.code) {
///     let account = try await enrolment.confirm(trust: TrustStore(file: trustFile), in: store)
/// } else {
///     await enrolment.cancel()
/// }
/// ```
/// The server passes messages on, and may be anybody: nothing is taken from it unless the user of this device has said
/// that both devices show the same. An enrolment lasts ten minutes.
///
/// Begin one at the user's word alone, and never again by itself after one has failed: each comparison gives whoever
/// stands between one try in a million.
public final class DeviceEnrolment: Sendable {
    /// To be given to the other device: `sealkit-enrol:` and 32 hexadecimal digits. No secret, but not for others:
    /// whoever gets in with it first makes this enrolment fail.
    public let invitation: String
    private let device: Enrolment.NewDevice<XWingHPKE>
    private let mailbox: EnrolmentMailbox
    private let deviceName: String
    /// The first answer counts: another one never replaces it.
    private let transcript = Mutex<Enrolment.Transcript?>(nil)

    private init(_ device: Enrolment.NewDevice<XWingHPKE>, _ mailbox: EnrolmentMailbox, deviceName: String) {
        invitation = EnrolmentInvitation.text(device.enrolmentID)
        self.device = device
        self.mailbox = mailbox
        self.deviceName = deviceName
    }

    /// Makes a key for this enrolment alone, and opens a mailbox on the server.
    /// - Throws: `constraintViolation` while another one is under way in this process, until that is confirmed or
    ///   cancelled; `requestRateLimited`, `serviceUnavailable`, `networkFailure`.
    public static func begin(
        transport: any Transport, deviceName: String = Account.defaultDeviceName
    ) async throws(SealKitError) -> DeviceEnrolment {
        try await begin(client: Client(transport: transport), deviceName: deviceName, turns: .ofNewDevice)
    }

    static func begin(
        client: Client, deviceName: String, turns: EnrolmentTurns
    ) async throws(SealKitError) -> DeviceEnrolment {
        let turn = try turns.take()
        let device = try verifying("a new key") { () throws(SealError) in
            var random = SystemRandom()
            return try Enrolment.NewDevice<XWingHPKE>(random: &random)
        }
        let request = Sealkit_V1_OpenEnrolmentRequest.with {
            $0.enrolmentID = Data(device.enrolmentID.bytes)
            $0.commitment = Data(device.commitment.bytes)
        }
        let opened: Sealkit_V1_OpenEnrolmentResponse = try await client.call(Endpoints.devices.openEnrolment, request)
        let mailbox = EnrolmentMailbox(
            id: device.enrolmentID, ticket: opened.ticket, client: client, account: nil, turn: turn)
        return DeviceEnrolment(device, mailbox, deviceName: deviceName)
    }

    /// Waits until the other device has answered, and reveals what this one had committed to.
    /// - Throws: `unknownItem` when the other device has ended it, or ten minutes are over; `operationCancelled`.
    public func comparison() async throws(SealKitError) -> EnrolmentComparison {
        if let known = transcript.withLock({ $0 }) { return EnrolmentComparison(known) }
        let (answer, loginKey) = try await mailbox.wait { $0.answer.isEmpty ? nil : ($0.answer, $0.loginKey) }
        let first = try verifying("the other device's answer") { () throws(SealError) in
            let seen = try device.transcript(answer: try Digest(answer), loginKey: try VerificationKey(loginKey))
            return transcript.withLock { transcript in
                let first = transcript ?? seen
                transcript = first
                return first
            }
        }
        let reveal = Sealkit_V1_RevealEnrolmentRequest.with {
            $0.enrolmentID = Data(device.enrolmentID.bytes)
            $0.ticket = mailbox.ticket ?? Data()
            $0.grantKey = Data(device.reveal.grantKey)
            $0.nonce = Data(device.reveal.nonce.bytes)
        }
        _ = try await mailbox.send(Endpoints.devices.revealEnrolment, reveal)
        return EnrolmentComparison(first)
    }

    /// The user of this device has seen that both show the same: waits until the other device's user has as well, and
    /// takes the account over.
    ///
    /// What the other device has seen of rosters counts here from now on: older ones are refused. The account is in
    /// memory alone, and the device in its list already: keep it at once, or let `confirm(trust:in:)` do so.
    /// - Parameter trust: where this device keeps what it verifies; keep it beside the account's keys.
    /// - Throws: `integrityFailure` when what came is not from the device that the comparison was with; `unknownItem`
    ///   when the other device has ended it, or ten minutes are over; `invalidArguments` before there is a comparison.
    public func confirm(trust: TrustStore) async throws(SealKitError) -> Account {
        guard let seen = transcript.withLock({ $0 }) else {
            throw SealKitError(
                .invalidArguments, "there is nothing yet that could be confirmed",
                remedy: "wait for the comparison, and show it")
        }
        return try await take(seen.confirmedByUser(), trust)
    }

    /// As `confirm(trust:)`, when this device has scanned the transcript off the other one.
    /// - Throws: `integrityFailure` also when the transcripts differ.
    public func confirm(scanned text: String, trust: TrustStore) async throws(SealKitError) -> Account {
        guard let seen = transcript.withLock({ $0 }) else { throw SealKitError.standsBetween }
        return try await take(try seen.confirmed(scanning: text), trust)
    }

    /// As `confirm(trust:)`, and keeps the account in `store`, which must not keep another: one that is unfinished
    /// gives way.
    /// - Parameters:
    ///   - trust: where this device keeps what it verifies; keep it beside the account's keys.
    ///   - store: keeps nothing, or an account that is unfinished.
    /// - Throws: `constraintViolation` when the store keeps an account, before anything is taken over; what the store
    ///   throws: where it cannot keep the account in the end, take this device off the list and begin again.
    public func confirm(trust: TrustStore, in store: any KeyStore) async throws(SealKitError) -> Account {
        _ = try await store.unfinished()
        return try await confirm(trust: trust).kept(in: store)
    }

    /// As `confirm(trust:in:)`, when this device has scanned the transcript off the other one.
    /// - Throws: `integrityFailure` also when the transcripts differ.
    public func confirm(
        scanned text: String, trust: TrustStore, in store: any KeyStore
    ) async throws(SealKitError) -> Account {
        _ = try await store.unfinished()
        return try await confirm(scanned: text, trust: trust).kept(in: store)
    }

    /// The codes differ, or the user has had enough.
    public func cancel() async { await mailbox.end() }

    private func take(_ confirmed: Enrolment.Confirmed, _ trust: TrustStore) async throws(SealKitError) -> Account {
        let sealed = try await mailbox.wait { $0.sealed.isEmpty ? nil : [UInt8]($0.sealed) }
        let package: Enrolment.Package
        do { package = try device.open(sealed, confirmed: confirmed) } catch { throw SealKitError.standsBetween }
        let keeper = try DeviceKeeper(account: package.seeds[0], id: device.enrolmentID)
        // Before the account can be used for anything.
        try await trust.raiseFloors(to: package.heads)
        try await keeper.begin(with: trust)
        let account = try Account(
            seeds: package.seeds, client: mailbox.client, deviceName: deviceName, deviceKeeper: keeper)
        try await account.requireSession()
        await mailbox.end()
        return account
    }
}

extension DeviceEnrolment: CustomStringConvertible {
    public var description: String { "DeviceEnrolment(\(invitation))" }
}
