import Foundation
import SealClient
import SealEnvelope
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Whose address it is that a returned code proves.
extension CodeAttacks {
    @Test(
        "The server hands somebody the number of a verification for the attacker's address: what comes back proves nothing of it."
    )
    func attack65_aVerificationOfAnotherAddress() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let (carol, network) = try await Person(server).behindAttacker()
        // The server has Carol's session: in her name it has a code sent to a mailbox of the attacker's.
        let foreign = try await carol.container.beginVerification(of: "mallory@example.org")
        let code = try await carol.code("mallory@example.org")
        // She asks for one to her own address, and is given that one's number, and mailed its code.
        network.rewrite("verification/begin", Sealkit_V1_BeginVerificationResponse.self) {
            $0.verificationID = Data(foreign.id)
        }
        let asked = try await carol.container.beginVerification(of: "carol@example.org")
        network.beHonest()
        #expect(asked.id == foreign.id)
        await expectRefused(.verificationFailed) { _ = try await asked.complete(code: code) }
        #expect(try await carol.account.linkedAddresses().isEmpty)
        // What she signed is no proof for whoever checks it, either.
        let sent = try Sealkit_V1_CompleteVerificationRequest(
            serializedBytes: try #require(network.sent(to: "verification/complete").last))
        let key = carol.container.core.identity().keys.signingKey.verificationKey
        func message(_ address: String) -> PAE {
            Challenges.verificationCode(
                origin: server.origin, verificationID: foreign.id, address: address, routingID: nil, code: sent.code)
        }
        try key.verify([UInt8](sent.signature), over: message("carol@example.org"))
        expectRefused(.invalidSignature) {
            try key.verify([UInt8](sent.signature), over: message("mallory@example.org"))
        }
        // Number and code were good: had she signed that address, it would be hers.
        _ = try await foreign.complete(code: code)
        #expect(try await carol.account.linkedAddresses().count == 1)
    }
}

extension Verification {
    /// The same one under another number, or in somebody else's hands.
    func with(id: [UInt8]? = nil, core: ContainerCore? = nil) -> Verification {
        Verification(
            id: id ?? self.id, address: address, routingID: routingID, expires: expires, core: core ?? self.core)
    }
}
