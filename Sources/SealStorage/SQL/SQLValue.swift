package import Foundation

/// A value bound to a statement. The kinds are those that SQLite and PostgreSQL share.
///
/// Blobs come in both shapes that the rest of the server holds (`[UInt8]` from the core, `Data` from protobuf), so that
/// neither is copied on its way into the database.
package enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
    case data(Data)

    package static func bool(_ value: Bool) -> SQLValue { .integer(value ? 1 : 0) }
    package static func optional(_ value: Int64?) -> SQLValue { value.map(SQLValue.integer) ?? .null }
    package static func optional(_ value: Double?) -> SQLValue { value.map(SQLValue.real) ?? .null }
    package static func optional(_ value: String?) -> SQLValue { value.map(SQLValue.text) ?? .null }
    package static func optional(_ value: [UInt8]?) -> SQLValue { value.map(SQLValue.blob) ?? .null }
    package static func optional(_ value: Data?) -> SQLValue { value.map(SQLValue.data) ?? .null }
}

extension SQLValue: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    package init(nilLiteral: ()) { self = .null }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
}
