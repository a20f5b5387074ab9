import CPQ

/// What PostgreSQL, or the way to it, failed with.
struct PostgresFailure {
    /// Five letters and digits; empty where the connection is gone, or libpq refuses something by itself.
    let state: String
    private let isGone: Bool
    /// The first line alone: details quote values.
    let message: String

    init(_ result: OpaquePointer?, of connection: OpaquePointer) {
        func field(_ code: CInt) -> String {
            guard let result, let text = PQresultErrorField(result, code) else { return "" }
            return String(cString: text)
        }
        // PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY, which are characters to C.
        state = field(CInt(UInt8(ascii: "C")))
        let primary = field(CInt(UInt8(ascii: "M")))
        message = primary.isEmpty ? Self.firstLine(of: connection) : primary
        isGone = PQstatus(connection) != CONNECTION_OK
    }

    private static func firstLine(of connection: OpaquePointer) -> String {
        let whole = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        return whole.split(separator: "\n").first.map(String.init) ?? "no answer"
    }

    /// The server ended the connection, or will not have it: another one may do. What has no state did not come from
    /// the server: libpq may have seen the connection's end only while it sent, and take it for a good one still. The
    /// last two are of a transaction that stood still, or went on, for longer than the server lets one.
    var isAboutConnection: Bool {
        isGone || state.isEmpty || state.hasPrefix("08") || state.hasPrefix("57P")
            || ["53300", "25P03", "25P04"].contains(state)
    }

    /// The transaction, or the server, only reads.
    var isReadOnly: Bool { state == "25006" }

    /// Two transactions were in each other's way: one of them has to be begun anew. The last is of one that waited for
    /// the other for too long.
    var isConflict: Bool { state == "40001" || state == "40P01" || state == "55P03" }

    /// The role may not do that.
    private var isDenied: Bool { state == "42501" }

    /// A page, or an index, is not what it was.
    private var isDamage: Bool { state == "XX001" || state == "XX002" }

    /// It was canceled: for its time, as a rule.
    var isCanceled: Bool { state == "57014" }

    var error: StorageError {
        if state.hasPrefix("23") { return .constraint(message: message) }
        if state == "53100" { return .full }
        if isDenied { return .denied(message: message) }
        if isAboutConnection || isConflict { return .unavailable(message: message) }
        if isDamage { return .damaged(message: "\(state): \(message)") }
        return .failed(code: 0, message: "\(state): \(message)")
    }
}
