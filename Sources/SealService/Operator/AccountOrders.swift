import SealStorage
package import SealWire

/// What the server's operator changes about an account: what it may store, and whether it is suspended. Each change may
/// be repeated, and none takes anything away that is stored.
package struct AccountOrders: Sendable {
    private let transactions: Transactions
    private let sessions: Sessions
    private let accounts: OperatedAccounts
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: microseconds since 1970.
    package init(
        transactions: Transactions, sessions: Sessions, accounts: OperatedAccounts,
        clock: @escaping @Sendable () -> Int64
    ) {
        (self.transactions, self.sessions, self.accounts, self.clock) = (transactions, sessions, accounts, clock)
    }

    /// Below what the account stores, nothing goes: it takes no more until there is room.
    /// - Throws: `invalidArguments`, `unknownItem`.
    package func setQuota(_ message: Sealkit_V1_SetQuotaRequest) async throws -> Sealkit_V1_OperatedAccount {
        let quota: SQLValue
        let now = clock()
        switch message.quota {
        case .bytes(let bytes) where bytes > 0 && bytes <= UInt64(Int64.max): quota = .integer(Int64(bytes))
        case .unlimited(true): quota = .integer(0)
        case .serverDefault(true): quota = .null
        default:
            throw ServerError(
                .invalidArguments, "The request names no quota.",
                remedy: "Give a number of bytes from 1 on, none, or the server's default.")
        }
        return try await change(message.account) { id, connection in
            try connection.execute("UPDATE account SET storage_quota = $2 WHERE id = $1", [.integer(id), quota])
            try ManagementEvents.note(
                .init(.quotaSet, account: id, detail: Self.text(message.quota)), now: now, in: connection)
        }
    }

    /// Ends the account's sessions with their streams, at once, and refuses logins and server-to-server keys from then
    /// on; what its webhooks and its keys' would be sent waits. Zones and rosters stay: whoever takes part in a share
    /// of it reads and writes as before.
    /// - Throws: `invalidArguments`, `unknownItem`.
    package func suspend(_ message: Sealkit_V1_SuspendAccountRequest) async throws -> Sealkit_V1_OperatedAccount {
        guard Self.isReason(message.reason) else {
            throw ServerError(
                .invalidArguments, "The reason is longer than \(Suspension.mostReasonBytes) bytes, or not printable.",
                remedy: "Give one line of text: whoever logs in is shown it.")
        }
        let now = clock()
        return try await change(message.account) { id, connection in
            try Suspension.begin(of: id, reason: message.reason, now: now, in: connection)
            try ManagementEvents.note(
                .init(.accountSuspended, account: id, detail: message.reason), now: now, in: connection)
        }
    }

    /// What its webhooks have missed goes out.
    /// - Throws: `invalidArguments`, `unknownItem`.
    package func unsuspend(_ message: Sealkit_V1_UnsuspendAccountRequest) async throws -> Sealkit_V1_OperatedAccount {
        let now = clock()
        return try await change(message.account) { id, connection in
            guard try Suspension.end(of: id, in: connection) else { return }
            try ManagementEvents.note(.init(.accountUnsuspended, account: id), now: now, in: connection)
            try WebhookRow.resume(of: id, now: now, in: connection)
        }
    }

    private static func text(_ quota: Sealkit_V1_SetQuotaRequest.OneOf_Quota?) -> String {
        switch quota {
        case .bytes(let bytes): "\(bytes) bytes"
        case .unlimited: "no limit"
        case .serverDefault, nil: "the server's default"
        }
    }

    private func change(
        _ text: String, _ body: @escaping @Sendable (Int64, any SQLConnection) throws -> Void
    ) async throws -> Sealkit_V1_OperatedAccount {
        let handle = AccountHandle(text: text, addresses: accounts.addresses)
        let id = try await transactions.read { try handle.find(in: $0) }
        let account = try await transactions.write(at: .everything) { [accounts] connection in
            // It may have been deleted meanwhile; no other account gets its number.
            let isThere = try connection.exists(
                "SELECT 1 FROM account a WHERE a.id = $1 AND \(OperatedAccounts.isLiving)", [.integer(id)])
            guard isThere else { throw AccountHandle.unknown }
            try body(id, connection)
            return try accounts.account(id, in: connection)
        }
        sessions.forget(account: id)
        return account
    }

    /// It goes into errors, terminals and lists: one line, and nothing that a terminal might obey.
    private static func isReason(_ text: String) -> Bool {
        text.utf8.count <= Suspension.mostReasonBytes && text.isOneLine
    }
}
