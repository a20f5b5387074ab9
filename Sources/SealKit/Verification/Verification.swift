public import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Container {
    /// Asks the server to send a code to an e-mail address or a phone number. The answer is the same whether or not
    /// anybody invited it, and whoever has it.
    ///
    /// - Parameters:
    ///   - address: `name@example.org`, or `+` and the digits. The message goes to it as it is written here.
    ///   - url: the share that it is for; nil links the address to this account, so that invitations to it need no
    ///     code.
    ///   - language: BCP 47, of the message; nil for this device's. The server falls back to English.
    /// - Throws: `invalidArguments` for what is no address; `serverRejectedRequest` where the server sends no messages
    ///   of this kind; `requestRateLimited`.
    public func beginVerification(
        of address: String, for url: String? = nil, language: String? = nil
    ) async throws(SealKitError) -> Verification {
        var routingID: ID16?
        if let url { routingID = try verifying("the URL") { () throws(SealError) in try ShareURL(url) }.routingID }
        let request = Sealkit_V1_BeginVerificationRequest.with {
            $0.container = core.identifier
            $0.routingID = Data(routingID?.bytes ?? [])
            $0.address = address
            $0.language = language ?? Verification.deviceLanguage
        }
        let response: Sealkit_V1_BeginVerificationResponse = try await core.call(
            Endpoints.people.beginVerification, request)
        return Verification(
            id: [UInt8](response.verificationID), address: address, routingID: routingID,
            expires: Date(microseconds: response.expires), core: core)
    }
}

/// A code that is on its way.
public struct Verification: Sendable {
    /// How often a code may be tried, before the server sends no more than a new one.
    public static let tries = 5

    /// Whether something that was typed may be a code, digits with spaces or hyphens between them: anything else would
    /// cost a try.
    public static func mayBeCode(_ typed: String) -> Bool {
        let code = AddressProof.digits(of: typed)
        return !code.isEmpty && code.allSatisfy { $0.isASCII && $0.isNumber }
    }

    let id: [UInt8]
    /// As the code was asked for.
    let address: String
    let routingID: ID16?
    /// When the code stops being good.
    public let expires: Date
    let core: ContainerCore

    /// Gives the code back, signed by the identity that asked, together with the address and the share that it asked
    /// for. From then on the address is linked to the account, and to no other.
    ///
    /// - Parameters:
    ///   - code: spaces and hyphens in it do not count.
    ///   - discoverable: whether ``Container/shareParticipant(forEmailAddress:permission:)`` of others finds this
    ///     account by the address from now on. Without it they learn no more than of an address that nobody has;
    ///     whoever is discoverable already stays so.
    /// - Throws: `verificationFailed`, whatever was wrong: the code, its age, the number of tries. By this device's
    ///   clock, its age is seen from `expires`.
    public func complete(code: String, discoverable: Bool = false) async throws(SealKitError) -> VerificationToken {
        let proof = AddressProof(
            origin: core.account.server, verificationID: id, address: address, routingID: routingID)
        let answer = proof.answer(code, key: core.identity().keys.signingKey)
        let request = Sealkit_V1_CompleteVerificationRequest.with {
            $0.verificationID = Data(id)
            $0.address = address
            $0.code = answer.digits
            $0.signature = Data(answer.signature)
            $0.isDiscoverable = discoverable
        }
        let response: Sealkit_V1_CompleteVerificationResponse = try await core.call(
            Endpoints.people.completeVerification, request)
        return VerificationToken(text: response.token)
    }

    /// The first part of this device's language; empty where it has none that could be told a server.
    static var deviceLanguage: String {
        let tag = (Locale.preferredLanguages.first ?? "").prefix { $0 != "-" && $0 != "_" && $0 != "." && $0 != "@" }
        return (2...8).contains(tag.utf8.count) && tag.allSatisfy { $0.isASCII && $0.isLetter } ? tag.lowercased() : ""
    }
}

/// Proof towards the server that this account controls an address: single use, a quarter of an hour.
public struct VerificationToken: Sendable {
    let text: String
}

extension VerificationToken: CustomStringConvertible {
    public var description: String { "VerificationToken" }
}
