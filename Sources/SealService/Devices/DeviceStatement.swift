package import Foundation
package import SealPrimitives
import SealStatements
import SealWire

/// What a device says of itself at each login, signed by the account's login key.
package struct DeviceStatement: Sendable {
    static let mostNameBytes = Limits.nameBytes

    package let id: ID16
    package let name: String
    package let added: Int64
    package let signature: [UInt8]

    package init(id: Data, name: String, added: Int64, signature: Data) throws(ServerError) {
        self.id = try Self.id(id)
        guard name.utf8.count <= Self.mostNameBytes,
            !name.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
        else {
            throw ServerError(
                .invalidArguments,
                "The device name is longer than \(Self.mostNameBytes) bytes or has control characters.",
                remedy: "Shorten it.")
        }
        self.name = name
        self.added = added
        self.signature = [UInt8](signature)
    }

    package static func id(_ bytes: Data) throws(ServerError) -> ID16 {
        try ID16(wire: bytes, "A device's id", remedy: "Send the id that the device has made for itself.")
    }

    /// - Throws: unless the key has signed it.
    func verify(by loginKey: VerificationKey) throws(ServerError) {
        guard isSigned(by: loginKey) else { throw Self.notSigned }
    }

    func isSigned(by loginKey: VerificationKey) -> Bool {
        (try? loginKey.verify(signature, over: Challenges.device(id, name: name, added: added))) != nil
    }

    static let notSigned = ServerError(
        .notAuthenticated, "The signature does not hold for the device's id, name and time.",
        remedy: "Sign them with the account's login key.")
}
