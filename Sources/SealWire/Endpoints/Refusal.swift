/// What a whole request is refused with, as the transport page lists it: codes that many routes share, or one of a
/// route's own. Those of every route are in none.
public enum Refusal: Sendable, Equatable {
    /// A message is read.
    case message
    /// A session is needed.
    case session
    /// A user is needed.
    case user
    /// The path names a database.
    case path
    /// The message or path names a zone.
    case zone
    /// Roster entries are judged.
    case roster
    /// A management token is needed.
    case management
    /// The operator's token is needed.
    case `operator`
    /// An account is named to the operator's listener.
    case account
    /// Something is stored.
    case stored
    case code(ErrorCode)
    /// An HTTP status that the code alone does not give.
    case status(Int)

    /// The letter of shared codes.
    var letter: String? {
        switch self {
        case .message: "B"
        case .session: "S"
        case .user: "U"
        case .path: "P"
        case .zone: "Z"
        case .roster: "R"
        case .management: "M"
        case .operator: "O"
        case .account: "A"
        case .stored: "W"
        case .code, .status: nil
        }
    }
}
