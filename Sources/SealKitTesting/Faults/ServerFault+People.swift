import Foundation
import SealEnvelope
import SealKit
import SealPrimitives
import SealWire
import SwiftProtobuf

/// Lies about accounts, devices, addresses and shares.
extension ServerFault {
    /// The account's list of devices has one more, which never logged in. Seen as `integrityFailure` by
    /// `Account.devices()`.
    public static let inventedDevice = rewriting(
        .inventedDevice, "devices/list", Sealkit_V1_DevicesResponse.self
    ) { _, answer in
        answer.devices.append(
            .with {
                ($0.id, $0.name, $0.signature) = (Data(repeating: 1, count: 16), "made up", Data(count: 64))
            })
    }

    /// The bundle that a recovery key opens has one bit of another value. Seen as `integrityFailure` by
    /// `Account.recover`.
    public static let damagedRecoveryBundle = rewriting(
        .damagedRecoveryBundle, "accounts/recover", Sealkit_V1_RecoverResponse.self
    ) { _, answer in if !answer.sealed.isEmpty { answer.sealed[answer.sealed.startIndex] ^= 4 } }

    /// The server stands between two devices of which one enrols the other, and shows the old one something else than
    /// the new one has revealed. Seen as `integrityFailure` by `DeviceApproval.comparison()`; nothing is handed over,
    /// and neither device begins again by itself.
    public static let interceptedEnrolment = rewriting(
        .interceptedEnrolment, "enrol/state", Sealkit_V1_EnrolmentStateResponse.self
    ) { _, answer in
        guard !answer.nonce.isEmpty else { return }
        var random = SystemRandom()
        let attacker = try Enrolment.NewDevice<XWingHPKE>(random: &random).reveal
        answer.grantKey = Data(attacker.grantKey)
        answer.nonce = Data(attacker.nonce.bytes)
    }

    /// A verification that is begun gets the number of another one, of an address of the attacker's, begun in the name
    /// of the same account. The code that came for the one completes neither: `verificationFailed`.
    /// - Parameter address: the attacker's.
    public static func exchangedVerification(for address: String) -> ServerFault {
        rewriting(
            .exchangedVerification, "verification/begin", Sealkit_V1_BeginVerificationResponse.self
        ) { call, answer in
            var request = try Sealkit_V1_BeginVerificationRequest(serializedBytes: call.body)
            request.address = address
            let response = try await call.server.post(
                call.path, body: try request.serializedData(), token: call.token)
            guard response.status < 400 else { throw response.failure }
            answer.verificationID =
                try Sealkit_V1_BeginVerificationResponse(serializedBytes: response.body).verificationID
        }
    }

    /// Behind every share URL is another share. Seen as `invalidArguments`, before anything is accepted.
    /// - Parameter url: of the other share, to which the device is invited as well.
    public static func exchangedShare(with url: String) -> ServerFault {
        rewriting(.exchangedShare, "share/metadata", Sealkit_V1_ShareMetadataResponse.self) { call, answer in
            var request = try Sealkit_V1_ShareMetadataRequest(serializedBytes: call.body)
            request.routingID = Data(try ShareURL(url).routingID.bytes)
            let response = try await call.server.post(
                call.path, body: try request.serializedData(), token: call.token)
            guard response.status < 400 else { throw response.failure }
            answer = try Sealkit_V1_ShareMetadataResponse(serializedBytes: response.body)
        }
    }

    /// Whoever opens a share-wide URL is offered somebody else's seat. Seen as `invalidArguments` when it is accepted.
    /// - Parameter participantID: whose seat, as the share has it (`Share.Participant.participantID`).
    public static func offeredSeat(of participantID: String) -> ServerFault {
        rewriting(.offeredSeat, "share/metadata", Sealkit_V1_ShareMetadataResponse.self) { _, answer in
            answer.invitationID = Data(try Hex.decode(participantID))
        }
    }
}
