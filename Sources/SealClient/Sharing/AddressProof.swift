public import SealPrimitives
import SealStatements

/// An address that is being proven: what its code is signed with when it comes back.
public struct AddressProof: Sendable {
    /// Of the server that sent the code.
    public let origin: String
    /// As the server gave it.
    public let verificationID: [UInt8]
    /// Exactly as the code was asked for.
    public let address: String
    /// Of the share's URL; nil where the address is to be linked to the account alone.
    public let routingID: ID16?

    public init(origin: String, verificationID: [UInt8], address: String, routingID: ID16?) {
        self.origin = origin
        self.verificationID = verificationID
        self.address = address
        self.routingID = routingID
    }

    /// What counts of a code that somebody has typed: all but spaces and hyphens.
    public static func digits(of typed: String) -> String {
        var digits = ""
        for scalar in typed.unicodeScalars where !scalar.isWhiteSpace && scalar != "-" {
            digits.unicodeScalars.append(scalar)
        }
        return digits
    }

    /// What goes back to the server.
    /// - Parameters:
    ///   - code: as its user typed it: spaces and hyphens in it do not count.
    ///   - key: of the identity that asked for the code.
    public func answer(_ code: String, key: SigningKey) -> (digits: String, signature: [UInt8]) {
        let digits = Self.digits(of: code)
        let message = Challenges.verificationCode(
            origin: origin, verificationID: verificationID, address: address, routingID: routingID, code: digits)
        return (digits, key.sign(message))
    }
}
