import CPQ

/// Rows that go into a table by `COPY`, in portions: what the server refuses of one is told before the next is begun.
struct PostgresCopy {
    /// Bytes.
    private static let portion = 4 << 20
    private static let header: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0x00] + [UInt8](repeating: 0, count: 8)
    private static let end: [UInt8] = [0xff, 0xff]

    private let connection: OpaquePointer
    private let sql: String
    private var buffer: [UInt8] = []
    private var sent = 0
    private var isOpen = false

    init(_ connection: OpaquePointer, into table: String, _ columns: [String]) {
        self.connection = connection
        sql = "COPY \(table) (\(columns.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
    }

    mutating func add(_ values: [SQLValue]) throws(PostgresError) {
        if !isOpen { try begin() }
        do throws(StorageError) { try RowBytes.append(values, to: &buffer) } catch { throw .told(error) }
        if buffer.count >= 1 << 16 { try send() }
        if sent >= Self.portion { try finish() }
    }

    private mutating func begin() throws(PostgresError) {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COPY_IN else { throw .failed(.init(result, of: connection)) }
        (isOpen, sent, buffer) = (true, 0, Self.header)
    }

    private mutating func send() throws(PostgresError) {
        let isSent = buffer.withUnsafeBytes { bytes in
            PQputCopyData(connection, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(bytes.count))
        }
        sent += buffer.count
        buffer.removeAll(keepingCapacity: true)
        guard isSent == 1 else { throw .failed(.init(nil, of: connection)) }
    }

    /// Ends the portion under way.
    mutating func finish() throws(PostgresError) {
        guard isOpen else { return }
        buffer += Self.end
        try send()
        isOpen = false
        guard PQputCopyEnd(connection, nil) == 1 else { throw .failed(.init(nil, of: connection)) }
        try takeAnswer()
    }

    /// After a row that could not be had: the server forgets the portion, and the transaction is of no use any more.
    mutating func giveUp() {
        guard isOpen else { return }
        isOpen = false
        _ = PQputCopyEnd(connection, "given up")
        try? takeAnswer()
    }

    private func takeAnswer() throws(PostgresError) {
        var failure: PostgresFailure?
        while let result = PQgetResult(connection) {
            defer { PQclear(result) }
            let status = PQresultStatus(result)
            if status != PGRES_COMMAND_OK { failure = .init(result, of: connection) }
            // It would say so for ever, where the end could not be sent.
            if status == PGRES_COPY_IN { break }
        }
        if let failure { throw .failed(failure) }
    }
}
