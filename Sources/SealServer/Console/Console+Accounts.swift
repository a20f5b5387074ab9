import Hummingbird
import Logging
import SealService
import SealWire
import SwiftProtobuf

/// Who has an account, what it may store, and whether it is suspended.
extension Console {
    private var orders: AccountOrders {
        AccountOrders(
            transactions: services.transactions, sessions: services.sessions, accounts: services.operatedAccounts,
            clock: services.clock)
    }

    func addAccountRoutes(to routes: inout RouteTable) {
        get("/accounts", &routes) { fields, session in try await accounts(fields, session) }
        post("/accounts/quota", &routes) { fields, _ in
            let quota: Sealkit_V1_SetQuotaRequest.OneOf_Quota
            switch fields["quota"] {
            case "default": quota = .serverDefault(true)
            case "none": quota = .unlimited(true)
            case let text:
                guard let bytes = UInt64(text) else {
                    throw ServerError(
                        .invalidArguments, "That is no quota.",
                        remedy: "Give a number of bytes from 1 on, none, or default.")
                }
                quota = .bytes(bytes)
            }
            let changed = try await orders.setQuota(.with { ($0.account, $0.quota) = (fields["account"], quota) })
            journal.note(.quota, ["account": "\(changed.account)"])
            return Self.account(changed)
        }
        post("/accounts/suspend", &routes) { fields, _ in
            let changed = try await orders.suspend(
                .with { ($0.account, $0.reason) = (fields["account"], fields["reason"]) })
            journal.note(.suspend, ["account": "\(changed.account)"])
            return Self.account(changed)
        }
        post("/accounts/unsuspend", &routes) { fields, _ in
            let changed = try await orders.unsuspend(.with { $0.account = fields["account"] })
            journal.note(.unsuspend, ["account": "\(changed.account)"])
            return Self.account(changed)
        }
    }

    private static func account(_ account: Sealkit_V1_OperatedAccount) -> Response {
        ConsolePage.see("/accounts?" + FormFields.query([("find", account.account)]))
    }

    private func accounts(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        var message = Sealkit_V1_ListAccountsRequest()
        (message.find, message.suspendedOnly) = (fields["find"], fields["suspended"] == "only")
        message.cursor = try Self.cursor(fields)
        let asked = message
        let answer = try await services.transactions.read { [accounts = services.operatedAccounts] in
            try accounts.list(asked, in: $0)
        }
        journal.note(.accounts, ["count": "\(answer.accounts.count)"])
        let link = fields.query(["find", "suspended"])
        let which = [("", "all"), ("only", "suspended")]
        let body: Markup = """
            <form class="fields" method="get" action="/accounts">
            \(Self.field("Part of a name, or a whole address", "find", fields["find"]))\
            \(Self.choice("Which", "suspended", which, fields["suspended"]))<button>Show</button>
            </form>
            \(Self.table(
                "Accounts",
                ["account", "made", "seen", "devices", "stored", "quota", "another quota", "standing"],
                answer.accounts.map { row($0, session) }, numbers: [3, 4, 5], empty: "No account fits."))
            \(Self.more("/accounts", link, after: answer.cursor, "More"))
            """
        return ConsolePage(title: "Accounts", body: body, session: session).response()
    }

    private func row(_ account: Sealkit_V1_OperatedAccount, _ session: ConsoleSessions.Session) -> Markup {
        func form(_ path: String, _ word: String, _ field: Markup) -> Markup {
            """
            <form class="fields" method="post" action="\(path)">\(ConsolePage.formToken(session, path))\
            <input type="hidden" name="account" value="\(account.account)">\(field)<button>\(word)</button></form>
            """
        }
        let suspension = account.suspension
        let standing: Markup =
            account.hasSuspension
            ? """
            <span class="bad">suspended</span> since \(Self.time(microseconds: suspension.since)) \(suspension.reason)\
            \(form("/accounts/unsuspend", "Unsuspend", .none))
            """ : form("/accounts/suspend", "Suspend", Self.field("Reason", "reason"))
        let identities = account.identities.map { identity -> Markup in "<br>\(identity)" }
        let quota = account.bytesLimit == 0 ? "no limit" : Self.bytes(account.bytesLimit)
        return """
            <tr><th scope="row"><code>\(account.account)</code>\(Markup(identities))</th>\
            <td>\(Self.day(account.created))</td><td>\(account.lastSeen > 0 ? Self.day(account.lastSeen) : "never")</td>\
            <td class="n">\(account.devices)</td><td class="n">\(Self.bytes(account.bytes))</td>\
            <td class="n">\(quota)\(account.hasOwnLimit_p ? " (its own)" : "")</td>\
            <td>\(form("/accounts/quota", "Set", Self.field("Bytes, none or default", "quota")))</td>\
            <td>\(standing)</td></tr>

            """
    }

    private static func day(_ microseconds: Int64) -> String { String(Chart.time(microseconds / 1_000_000).prefix(10)) }
}
