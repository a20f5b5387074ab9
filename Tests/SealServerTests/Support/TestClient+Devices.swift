import Foundation
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealServer

extension TestClient {
    /// The same account on another device.
    func onAnotherDevice(_ name: String = "another") -> TestClient {
        var other = self
        (other.device, other.deviceName) = (.random(), name)
        return other
    }

    /// The same device, after the server was started again.
    func at(_ server: RunningServer) -> TestClient {
        var client = self
        client.server = server
        return client
    }

    func devices() async throws -> Sealkit_V1_DevicesResponse {
        try await call("/1/devices/list", Sealkit_V1_ListDevicesRequest(), as: Sealkit_V1_DevicesResponse.self)
    }

    @discardableResult
    func name(
        _ device: ID16, _ name: String, added: Int64 = 1, signer: SigningKey? = nil
    ) async throws -> Sealkit_V1_DevicesResponse {
        let request = Sealkit_V1_NameDeviceRequest.with {
            $0.id = Data(device.bytes)
            $0.name = name
            $0.added = added
            $0.signature = Data((signer ?? loginKey).sign(Challenges.device(device, name: name, added: added)))
        }
        return try await call("/1/devices/name", request, as: Sealkit_V1_DevicesResponse.self)
    }

    @discardableResult
    func revoke(_ device: ID16) async throws -> Sealkit_V1_DevicesResponse {
        try await call(
            "/1/devices/revoke", Sealkit_V1_RevokeDeviceRequest.with { $0.id = Data(device.bytes) },
            as: Sealkit_V1_DevicesResponse.self)
    }

    // MARK: Enrolments

    func openEnrolment(_ id: ID16, commitment: [UInt8] = randomBytes(32)) async throws
        -> Sealkit_V1_OpenEnrolmentResponse
    {
        let request = Sealkit_V1_OpenEnrolmentRequest.with {
            $0.enrolmentID = Data(id.bytes)
            $0.commitment = Data(commitment)
        }
        return try await call("/1/devices/enrol/open", request, as: Sealkit_V1_OpenEnrolmentResponse.self)
    }

    func claimEnrolment(_ id: ID16) async throws -> Sealkit_V1_ClaimEnrolmentResponse {
        try await call(
            "/1/devices/enrol/claim", Sealkit_V1_ClaimEnrolmentRequest.with { $0.enrolmentID = Data(id.bytes) },
            as: Sealkit_V1_ClaimEnrolmentResponse.self)
    }

    func answerEnrolment(_ id: ID16, _ answer: [UInt8]) async throws {
        let request = Sealkit_V1_AnswerEnrolmentRequest.with {
            $0.enrolmentID = Data(id.bytes)
            $0.answer = Data(answer)
            $0.loginKey = Data(loginKey.verificationKey.bytes)
        }
        _ = try await call("/1/devices/enrol/answer", request, as: Sealkit_V1_EnrolmentResponse.self)
    }

    func revealEnrolment(_ id: ID16, ticket: Data, key: [UInt8], nonce: [UInt8]) async throws {
        let request = Sealkit_V1_RevealEnrolmentRequest.with {
            $0.enrolmentID = Data(id.bytes)
            $0.ticket = ticket
            $0.grantKey = Data(key)
            $0.nonce = Data(nonce)
        }
        _ = try await call("/1/devices/enrol/reveal", request, as: Sealkit_V1_EnrolmentResponse.self)
    }

    func deliverEnrolment(_ id: ID16, _ sealed: [UInt8]) async throws {
        let request = Sealkit_V1_DeliverEnrolmentRequest.with {
            $0.enrolmentID = Data(id.bytes)
            $0.sealed = Data(sealed)
        }
        _ = try await call("/1/devices/enrol/deliver", request, as: Sealkit_V1_EnrolmentResponse.self)
    }

    func enrolmentState(_ id: ID16, ticket: Data = Data()) async throws -> Sealkit_V1_EnrolmentStateResponse {
        let request = Sealkit_V1_EnrolmentStateRequest.with {
            $0.enrolmentID = Data(id.bytes)
            $0.ticket = ticket
        }
        return try await call("/1/devices/enrol/state", request, as: Sealkit_V1_EnrolmentStateResponse.self)
    }

    func endEnrolment(_ id: ID16, ticket: Data = Data()) async throws {
        let request = Sealkit_V1_EndEnrolmentRequest.with {
            $0.enrolmentID = Data(id.bytes)
            $0.ticket = ticket
        }
        _ = try await call("/1/devices/enrol/end", request, as: Sealkit_V1_EnrolmentResponse.self)
    }
}
