/// A column that names an account, an identity or a user, and is not what says whose a row is.
struct Mention: Sendable {
    enum Meaning: Sendable {
        /// The same account.
        case itsOwn
        /// Somebody with whose account the row goes as well, under a further condition.
        case erased(where: String?)
        /// A user's name in the row's container: the row goes at once when that account is closed.
        case atClosing
        /// The row stays.
        case kept(_ why: String)
    }

    let column: String
    let meaning: Meaning

    init(_ column: String, _ meaning: Meaning) {
        self.column = column
        self.meaning = meaning
    }
}
