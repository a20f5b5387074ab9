/// What lets a server's operator in on the operator's listener: from the file `operator.token` in the server's secrets
/// folder. It opens no record, and no session is made of it.
public struct OperatorToken: Sendable {
    static let prefix = "sealkit-operator-"
    private let token: PrefixedToken

    /// - Throws: `invalidArguments` for a text that is no operator's token; it is not repeated.
    public init(_ text: some StringProtocol) throws(SealKitError) {
        guard let token = PrefixedToken(text, prefix: Self.prefix) else {
            throw SealKitError(
                .invalidArguments, "this is not an operator's token",
                remedy:
                    "it begins with \(Self.prefix) and is the line of the file operator.token in the server's secrets folder"
            )
        }
        self.token = token
    }

    /// As it is sent.
    public func text() -> String { token.text() }
}

extension OperatorToken: CustomStringConvertible, CustomReflectable {
    /// The token shows nowhere.
    public var description: String { "OperatorToken" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
