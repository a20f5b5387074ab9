/// One piece of a schema file, with the place where it begins.
struct SchemaToken {
    enum Kind: Equatable {
        /// Letters, digits and underscores: a keyword or a name.
        case word(String)
        /// What stood between double quotes: always a name.
        case quoted(String)
        /// One of `( ) , ; < >`.
        case symbol(UInt8)
        case end
    }

    let kind: Kind
    let line: Int
    let column: Int

    func error(_ reason: String) -> SchemaError { SchemaError(line: line, column: column, reason: reason) }

    /// Keywords are written in capitals; small letters are taken as well.
    func isKeyword(_ keyword: SchemaKeyword) -> Bool {
        guard case .word(let word) = kind else { return false }
        return SchemaKeyword(word) == keyword
    }
}

enum SchemaKeyword: String, CaseIterable {
    case define, schema, create, role, record, type, grant, read, write, to, encrypted, list, number, preferred
    case `as`
    case queryable, sortable, searchable
    case string, bytes, int64, double, timestamp, location, reference, asset

    init?(_ word: String) { self.init(rawValue: word.lowercased()) }

    /// Names like these are written in quotes; the other keywords can be told from names by their place.
    static let reserved: Set<SchemaKeyword> = [.grant, .preferred, .queryable, .sortable, .searchable]
}
