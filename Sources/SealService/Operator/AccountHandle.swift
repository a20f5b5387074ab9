import SealStorage
import SealWire

/// How the server's operator names an account: by its name or a user record name of it, by the beginning of either
/// where that fits one account alone, or by an address that it has proven, which is known by its hash.
struct AccountHandle: Sendable {
    /// Of a beginning: whoever mistypes the fifth of more characters names nobody, as a rule.
    static let fewestBytes = 6
    private static let mostBytes = 512
    /// How many are named where several fit.
    private static let mostNamed = 5

    static let unknown = ServerError(
        .unknownItem, "There is no such account.",
        remedy: "List the accounts to find it by a part of its name, or by a whole address.")

    let text: String
    let addresses: AddressHasher

    /// The account's number. It looks through all accounts: no work for the writer.
    /// - Throws: `invalidArguments` for what is too short, no address, or the beginning of several; `unknownItem`.
    func find(in connection: any SQLConnection) throws -> Int64 {
        guard (Self.fewestBytes...Self.mostBytes).contains(text.utf8.count) else {
            throw ServerError(
                .invalidArguments, "An account is named by at least \(Self.fewestBytes) characters.",
                remedy: "Give more of its name or of a user record name, or an address.")
        }
        if OperatedAccounts.looksLikeAnAddress(text) {
            let hash = try addresses.hash(text)
            return try one(
                "a.id IN (SELECT account FROM linked_address WHERE address_hash = $1)", .blob(hash), in: connection)
        }
        let whole = """
            a.name = $1 OR EXISTS (\(Self.identity) (i.user_name = $1 OR i.container || '/' || i.user_name = $1))
            """
        if let found = try all("(\(whole))", .text(text), limit: 1, in: connection).first { return found.id }
        let begins = """
            SUBSTR(a.name, 1, LENGTH($1)) = $1
                OR EXISTS (\(Self.identity) SUBSTR(i.user_name, 1, LENGTH($1)) = $1)
            """
        return try one("(\(begins))", .text(text), in: connection)
    }

    private static let identity = "SELECT 1 FROM identity i WHERE i.account = a.id AND"

    private func one(_ condition: String, _ value: SQLValue, in connection: any SQLConnection) throws -> Int64 {
        let found = try all(condition, value, limit: Self.mostNamed + 1, in: connection)
        guard let first = found.first else { throw Self.unknown }
        guard found.count == 1 else {
            let names = found.prefix(Self.mostNamed).map(\.name).joined(separator: ", ")
            throw ServerError(
                .invalidArguments, "Several accounts begin like this.",
                remedy: "Give more of it: \(names)\(found.count > Self.mostNamed ? ", and more" : "").")
        }
        return first.id
    }

    private func all(
        _ condition: String, _ value: SQLValue, limit: Int, in connection: any SQLConnection
    ) throws -> [(id: Int64, name: String)] {
        try connection.rows(
            """
            SELECT a.id, a.name FROM account a WHERE a.id > 0 AND \(OperatedAccounts.isLiving) AND \(condition)
            ORDER BY a.id LIMIT $2
            """, [value, .integer(Int64(limit))]
        ) { (id: try $0.int64("id"), name: try $0.text("name")) }
    }
}
