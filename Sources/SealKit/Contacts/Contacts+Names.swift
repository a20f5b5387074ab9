import SealPrimitives
import SealStatements

/// What the user calls people on this device.
public struct LocalNames: Sendable {
    private let names: [Record.ID: LocalName]
    private let people: [String: Record.ID]

    init(_ names: [(user: UserID, name: LocalName)]) {
        let pairs = names.map { (Record.ID(recordName: $0.user.recordName), $0.name) }
        self.names = Dictionary(pairs) { first, _ in first }
        people = Dictionary(pairs.map { ($0.1.folded, $0.0) }) { first, _ in first }
    }

    /// Whether nobody has a name.
    public var isEmpty: Bool { names.isEmpty }
    /// Everybody who has a name.
    public var userRecordIDs: [Record.ID] { names.keys.sorted { $0.recordName < $1.recordName } }

    /// - Returns: nil for somebody without one.
    public subscript(_ userRecordID: Record.ID) -> String? {
        names[Record.ID(recordName: userRecordID.recordName)]?.text
    }

    /// Who is called so, however the name is capitalised; nil for nobody. No two people of a container have the same
    /// name.
    public func userRecordID(named name: String) -> Record.ID? { people[LocalName.folded(name)] }
}

extension Contacts {
    /// The names that the user has given people in this container. The server never sees them.
    /// - Throws: `notAuthenticated`.
    public func names() async throws(SealKitError) -> LocalNames {
        try core.requireSignedIn()
        return LocalNames(try await core.trust.localNames(container: core.identifier))
    }

    /// Gives somebody a name on this device, whether its keys were seen already or not.
    /// - Parameter userRecordID: whose name it is.
    /// - Parameter name: 1 to 64 characters that can be seen, the first a letter or digit, without `@`, and nothing
    ///   that reads like an id, a safety number, a phone number or a page's address; nil takes it away.
    /// - Throws: `invalidArguments` for another name, or what names nobody; `constraintViolation` for one that somebody
    ///   else has.
    public func setName(_ name: String?, for userRecordID: Record.ID) async throws(SealKitError) {
        try core.requireSignedIn()
        let user = try user(userRecordID)
        guard let name else { return try await core.trust.removeName(of: user, container: core.identifier) }
        let checked = try LocalName(name)
        guard let holder = try await core.trust.setName(checked, of: user, container: core.identifier) else { return }
        throw SealKitError(
            .constraintViolation, "\(holder.recordName) has that name already",
            remedy: "choose another one, or take it away there")
    }
}
