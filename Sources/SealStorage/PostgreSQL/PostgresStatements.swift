import CPQ

/// The statements that a connection has prepared, with the columns of their results. Used by whoever has the connection
/// to itself, and by nobody else.
///
/// The type of each parameter is named, as the values have it: PostgreSQL could not guess each. A null value has none,
/// and takes what another value there had, if one came before it.
final class PostgresStatements {
    struct Prepared {
        let name: String
        let types: [Oid]
        let columns: SQLColumns

        /// - Returns: whether it was sent, with its values, both in binary form as its answer will be.
        func send(_ values: PostgresValues, on connection: OpaquePointer) -> Bool {
            values.withPointers { pointers in
                PQsendQueryPrepared(
                    connection, name, CInt(values.lengths.count), pointers, values.lengths,
                    Array(repeating: 1, count: values.lengths.count), 1)
            } == 1
        }
    }

    /// Texts have lists of numbers in them, of shares for instance: there is no end to what may be asked.
    private static let most = 1_000
    private var prepared: [String: [Prepared]] = [:]
    private var count = 0
    private var made = 0

    func statement(
        _ sql: String, for values: [SQLValue], of connection: OpaquePointer
    ) throws(PostgresError) -> Prepared {
        if let known = prepared[sql]?.first(where: { Self.fits($0.types, values) }) { return known }
        guard Self.highestParameter(of: sql) == values.count else { throw .told(.wrongParameters(sql: sql)) }
        if count >= Self.most { try removeAll(of: connection) }
        made += 1
        let name = "s\(made)"
        let types = values.map(PostgresValue.type)
        let result = PQprepare(connection, name, sql, CInt(types.count), types)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw .failed(.init(result, of: connection)) }
        let described = PQdescribePrepared(connection, name)
        defer { PQclear(described) }
        guard PQresultStatus(described) == PGRES_COMMAND_OK else { throw .failed(.init(described, of: connection)) }
        let names = (0..<PQnfields(described)).map { index in
            PQfname(described, index).map { String(cString: $0) } ?? ""
        }
        let new: Prepared
        do throws(StorageError) {
            new = Prepared(name: name, types: types, columns: try SQLColumns(names))
        } catch { throw .told(error) }
        prepared[sql, default: []].append(new)
        count += 1
        return new
    }

    /// The same for each set: none of them is forgotten for another one's sake.
    func statements(
        _ sql: String, for sets: ArraySlice<[SQLValue]>, of connection: OpaquePointer
    ) throws(PostgresError) -> [Prepared] {
        if count + sets.count > Self.most { try removeAll(of: connection) }
        var all: [Prepared] = []
        all.reserveCapacity(sets.count)
        for values in sets { all.append(try statement(sql, for: values, of: connection)) }
        return all
    }

    /// Also what the server has of them.
    func removeAll(of connection: OpaquePointer) throws(PostgresError) {
        guard count > 0 else { return }
        let result = PQexec(connection, "DEALLOCATE ALL")
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw .failed(.init(result, of: connection)) }
        forget()
    }

    /// The connection is another one.
    func forget() {
        prepared = [:]
        count = 0
    }

    private static func fits(_ types: [Oid], _ values: [SQLValue]) -> Bool {
        guard types.count == values.count else { return false }
        for index in types.indices {
            if case .null = values[index] { continue }
            if types[index] != PostgresValue.type(of: values[index]) { return false }
        }
        return true
    }

    /// Of `$1`, `$2`, …: 0 for none.
    static func highestParameter(of sql: String) -> Int {
        var (highest, number, isNumber) = (0, 0, false)
        for byte in sql.utf8 {
            if isNumber, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), number < 100_000 {
                number = number * 10 + Int(byte - UInt8(ascii: "0"))
                highest = max(highest, number)
            } else {
                isNumber = byte == UInt8(ascii: "$")
                number = 0
            }
        }
        return highest
    }
}

/// What keeps a statement from being run.
enum PostgresError: Error {
    /// By the database.
    case failed(PostgresFailure)
    /// Before the database was asked.
    case told(StorageError)
}
