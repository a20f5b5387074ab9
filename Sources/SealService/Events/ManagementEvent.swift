/// What happened to accounts, schemas, tokens and keys, and is told to whoever operates the server.
package struct ManagementEvent: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case accountMade = "account-made"
        case accountDeleted = "account-deleted"
        case accountSuspended = "account-suspended"
        case accountUnsuspended = "account-unsuspended"
        case quotaSet = "quota-set"
        case schemaImported = "schema-imported"
        case schemaDeployed = "schema-deployed"
        case schemaReset = "schema-reset"
        case roleAssigned = "role-assigned"
        case roleRevoked = "role-revoked"
        case tokenMade = "token-made"
        case tokenRevoked = "token-revoked"
        case serverKeyMade = "server-key-made"
        case serverKeyRevoked = "server-key-revoked"

        /// Whether anybody who may make an account can cause it: these have room of their own, and push out none of
        /// the operator's.
        var isAnybodys: Bool {
            switch self {
            case .accountMade, .accountDeleted, .serverKeyMade, .serverKeyRevoked: true
            default: false
            }
        }
    }

    let kind: Kind
    /// Nil for what is of none.
    var container: String?
    var environment: UInt8?
    /// The event goes with it; nil for what is of none.
    var account: Int64?
    /// For people.
    var detail: String

    /// Bytes.
    private static let mostDetailBytes = 1_024

    /// - Parameter detail: what is longer than a kilobyte is cut.
    init(_ kind: Kind, container: String? = nil, environment: UInt8? = nil, account: Int64? = nil, detail: String = "")
    {
        (self.kind, self.container, self.environment, self.account) = (kind, container, environment, account)
        self.detail = Self.cut(detail)
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > mostDetailBytes else { return text }
        var (end, bytes) = (text.unicodeScalars.startIndex, 0)
        while end < text.unicodeScalars.endIndex {
            bytes += UTF8.width(text.unicodeScalars[end])
            guard bytes <= mostDetailBytes - 3 else { break }
            end = text.unicodeScalars.index(after: end)
        }
        return String(text.unicodeScalars[..<end]) + "…"
    }
}
