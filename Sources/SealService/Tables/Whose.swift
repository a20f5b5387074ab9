/// Whose the rows of a table are.
enum Whose: Sendable, Equatable {
    /// An account's, whose number is in this column.
    case account(String)
    /// A user's in a container: of the identity whose number is in this column.
    case identity(String)
    /// Of a zone: of the identity in `owner`, and there of the number in `zone`.
    case zone
    /// A container's: all its users', or the operator's.
    case container
    /// The server's.
    case server

    /// The column that says whose a row is.
    var column: String? {
        switch self {
        case .account(let column), .identity(let column): column
        case .zone: "owner"
        case .container, .server: nil
        }
    }
}
