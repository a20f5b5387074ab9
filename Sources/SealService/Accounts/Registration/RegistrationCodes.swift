public import Foundation
import SealPrimitives
import SealSystem

/// Makes registration codes for a server (`RegistrationCode`), while it runs or not: it needs nothing but the key in
/// the secrets folder.
public struct RegistrationCodes {
    /// The longest that a code may be good for: two hundred years.
    public static let longestLifetime: TimeInterval = 6_324_480_000

    public struct Made: Sendable {
        /// What to hand over: whoever has it may make one account.
        public let code: String
        public let expires: Date
    }

    private let key: SecretBytes

    /// - Throws: `RegistrationCodesError.noServer` where no server has kept its secrets; `SecretFileError`.
    public init(secretsFolder: String) throws {
        let path = secretsFolder + "/" + RegistrationCode.fileName
        guard FileStatus(path: path) != nil else { throw RegistrationCodesError.noServer(path: path) }
        Sodium.start()
        key = try SecretFile.load(at: path)
    }

    /// - Parameter lifetime: seconds.
    /// - Throws: `RegistrationCodesError.invalidLifetime`.
    public func make(lifetime: TimeInterval, now: Date = Date()) throws -> Made {
        guard lifetime >= 1, lifetime <= Self.longestLifetime else { throw RegistrationCodesError.invalidLifetime }
        let expires = Int64(now.timeIntervalSince1970 + lifetime)
        let code = RegistrationCode(id: systemRandomBytes(RegistrationCode.idBytes), expires: expires)
        return Made(code: code.text(key: key), expires: Date(timeIntervalSince1970: TimeInterval(expires)))
    }
}

public enum RegistrationCodesError: Error, Equatable, CustomStringConvertible {
    case noServer(path: String)
    case invalidLifetime

    public var description: String {
        switch self {
        case .noServer(let path):
            "There is no key for registration codes at \(path). Name the folder that the server was started with."
        case .invalidLifetime: "A registration code is good for at least a second and at most two hundred years."
        }
    }
}

// Whoever reads it may make an account.
extension RegistrationCodes.Made: CustomStringConvertible, CustomReflectable {
    public var description: String { "RegistrationCodes.Made" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
