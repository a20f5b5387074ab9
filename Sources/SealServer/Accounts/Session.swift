/// Who sent a request, once its session token has been checked.
struct Session: Sendable, Equatable {
    let accountID: Int64
}
