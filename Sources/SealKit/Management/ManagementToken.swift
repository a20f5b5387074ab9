/// What stands for the right to manage containers: the operator's, from the file `management.token` in the server's
/// secrets folder, or one made for a container. It opens no record.
public struct ManagementToken: Sendable {
    static let prefix = "sealkit-management-"
    private let token: PrefixedToken

    /// - Throws: `invalidArguments` for a text that is no management token; it is not repeated.
    public init(_ text: some StringProtocol) throws(SealKitError) {
        guard let token = PrefixedToken(text, prefix: Self.prefix) else {
            throw SealKitError(
                .invalidArguments, "this is not a management token",
                remedy:
                    "it begins with \(Self.prefix) and is one line of the file management.token in the server's secrets folder"
            )
        }
        self.token = token
    }

    /// As it is sent.
    public func text() -> String { token.text() }
}

extension ManagementToken: CustomStringConvertible, CustomReflectable {
    /// The token shows nowhere.
    public var description: String { "ManagementToken" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
