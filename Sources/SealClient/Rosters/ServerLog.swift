public import SealPrimitives
public import SealStatements

/// The server's own log of a scope from its first entry on, verified as its pages come.
public struct ServerLog: Sendable {
    public let scope: Scope
    /// Of a log that breaks a rule: up to there, with the rest of that page.
    public private(set) var entries: [SignedRosterEntry] = []
    private var replayed: Roster?
    private var failure: SealError?

    public init(scope: Scope) { self.scope = scope }

    /// - Returns: false once an entry breaks a rule: nothing that follows it counts.
    public mutating func add(_ page: [SignedRosterEntry]) -> Bool {
        guard failure == nil else { return false }
        entries += page
        do throws(SealError) {
            for entry in page {
                if replayed == nil {
                    replayed = try Roster(opening: entry, scope: scope)
                } else {
                    try replayed?.append(entry)
                }
            }
        } catch {
            failure = error
        }
        return failure == nil
    }

    /// - Throws: what an entry breaks; `notNextEntry` where there is none.
    public func roster() throws(SealError) -> Roster {
        if let failure { throw failure }
        guard let replayed else { throw .notNextEntry }
        return replayed
    }
}
