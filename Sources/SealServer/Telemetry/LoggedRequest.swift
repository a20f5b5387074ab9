import SealStorage

/// What is counted and logged of one request, with the account as the server numbers it: that never leaves the memory.
struct LoggedRequest: Sendable {
    var key: TelemetryKey
    let bytesIn: Int64
    let bytesOut: Int64
    /// Until the answer was ready.
    let microseconds: Int64
    /// Whose session or server-to-server key it had; 0 for a stranger's.
    let account: Int64
    /// The account is somebody's, and no server-to-server key's.
    let isPerson: Bool
    /// Items that were refused in an answer that is none itself.
    let refusedItems: Int
    /// As the server's own log has it; empty for what was answered.
    let request: String
    /// Of its operation group; empty for none.
    let groupID: [UInt8]
    /// When its answer was ready, in microseconds since 1970: set as it is logged.
    var time: Int64 = 0

    var isKnown: Bool { account != 0 }
    /// Nil where nobody is active by it: whoever is refused has done nothing, and may have made the container up.
    var activeAccount: Int64? { isPerson && key.code.isEmpty ? account : nil }

    var kind: LogEntry.Kind {
        guard isKnown else { return .stranger }
        return key.code.isEmpty ? .answered : .failed
    }
}
