package import SealPrimitives
package import SealStorage
import SealWire

/// Who may make an account, judged in the transaction that makes it. Whoever has an account is none of its business.
package struct Registration: Sendable {
    package enum Mode: Sendable {
        /// Anybody who reaches the server.
        case open
        /// Whoever has a code that the operator made (`RegistrationCodes`).
        case invite
        case closed
    }

    /// How long a used code is remembered after its time.
    private static let memory: Int64 = 7 * 86_400_000_000

    let mode: Mode
    private let key: SecretBytes

    package init(_ mode: Mode, key: SecretBytes) {
        (self.mode, self.key) = (mode, key)
    }

    /// Opens the codes' key in the secrets folder, or makes it at the first start.
    package static func loadKey(secretsFolder: String, randomBytes: (Int) -> [UInt8]) throws -> SecretBytes {
        try SecretFile.loadOrCreate(at: secretsFolder + "/" + RegistrationCode.fileName, randomBytes: randomBytes)
    }

    func text(of code: RegistrationCode) -> String { code.text(key: key) }

    /// Uses the code up, where one is needed.
    /// - Parameter now: microseconds since 1970.
    /// - Throws: `permissionFailure` without a code, and where nobody may make an account; `verificationFailed` for a
    ///   code that is none of this server's, has expired, or was used.
    package func admit(_ text: String, now: Int64, in connection: any SQLConnection) throws {
        switch mode {
        case .open: return
        case .closed:
            throw ServerError(
                .permissionFailure, "This server makes no new accounts.",
                remedy: "Ask its operator, or use another server.")
        case .invite: break
        }
        guard !text.isEmpty else {
            throw ServerError(
                .permissionFailure, "This server makes accounts by invitation only.",
                remedy: "Ask its operator for a registration code, and send it along.")
        }
        guard let code = RegistrationCode(text, key: key) else {
            throw ServerError(
                .verificationFailed, "The registration code is none of this server's.",
                remedy: "Send it exactly as the operator gave it.")
        }
        let expires = code.expires * 1_000_000
        guard now < expires else {
            throw ServerError(
                .verificationFailed, "The registration code has expired.",
                remedy: "Ask the server's operator for a new one.")
        }
        // Expired codes are refused by their time; a clock that jumps forth and back gives no used one a second life.
        try connection.dropSome(
            of: "registration_code", key: "id", where: "expires <= $1", [.integer(now - Self.memory)])
        let isNew = try connection.execute(
            "INSERT INTO registration_code (id, expires) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
            [.blob(code.id), .integer(expires)])
        guard isNew == 1 else {
            throw ServerError(
                .verificationFailed, "The registration code was used.",
                remedy: "Ask the server's operator for another one.")
        }
    }
}
