/// What of a request names its key, as it came: whoever sends the same has the same key, which takes reading to find
/// out anew.
struct RequestWords: Sendable, Hashable {
    let operation: String
    /// The path's.
    let template: String?
    let container: Substring?
    let environment: Substring?
    let database: Substring?
    let client: String?
    let group: String?

    /// By the words that differ most.
    func hash(into hasher: inout Hasher) {
        hasher.combine(operation)
        hasher.combine(container)
        hasher.combine(group)
    }

    /// The same without the request that it is a part of.
    var kept: RequestWords {
        RequestWords(
            operation: operation, template: template, container: container.map { Substring(String($0)) },
            environment: environment.map { Substring(String($0)) }, database: database.map { Substring(String($0)) },
            client: client, group: group)
    }
}
