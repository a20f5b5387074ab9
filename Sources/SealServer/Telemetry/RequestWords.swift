/// What of a request names its key, as it came: whoever sends the same has the same key, which takes reading and
/// hashing to find out anew.
struct RequestWords: Sendable, Equatable {
    let operation: String
    /// The path's.
    let template: String?
    let container: Substring?
    let environment: Substring?
    let database: Substring?
    let client: String?
    let group: String?
}
