extension Endpoints {
    public static let `operator` = OperatorEndpoints()
}

/// What the server's operator asks of a server that runs.
public struct OperatorEndpoints: Sendable {
    public let accounts = Endpoint<OnOperatorListener, Sealkit_V1_ListAccountsRequest, Sealkit_V1_ListAccountsResponse>(
        "operator/accounts", path: "1/operator/accounts", OnOperatorListener(),
        again: .read, work: .request,
        refusals: [.message, .operator],
        about: "accounts, oldest first, in pages; those that have what is looked for")

    public let usage = Endpoint<OnOperatorListener, Sealkit_V1_ServerUsageRequest, Sealkit_V1_ServerUsageResponse>(
        "operator/usage", path: "1/operator/usage", OnOperatorListener(),
        again: .read, work: .request,
        refusals: [.message, .operator, .account],
        about: "what the whole server stores, or one account; by container")

    public let quota = Endpoint<OnOperatorListener, Sealkit_V1_SetQuotaRequest, Sealkit_V1_OperatedAccountResponse>(
        "operator/quota", path: "1/operator/quota", OnOperatorListener(),
        again: .same, work: .request,
        refusals: [.message, .operator, .account, .stored],
        about: """
            what the account may store: a number of its own, no limit, or the server's default. Below what it stores, \
            nothing is lost: it takes no more until there is room
            """)

    public let suspend = Endpoint<
        OnOperatorListener, Sealkit_V1_SuspendAccountRequest, Sealkit_V1_OperatedAccountResponse
    >(
        "operator/suspend", path: "1/operator/suspend", OnOperatorListener(),
        again: .same, work: .request,
        refusals: [.message, .operator, .account, .stored],
        about: "suspends the account (\"Suspended accounts\"). Again: its reason is the newer one, where there is one")

    public let unsuspend = Endpoint<
        OnOperatorListener, Sealkit_V1_UnsuspendAccountRequest, Sealkit_V1_OperatedAccountResponse
    >(
        "operator/unsuspend", path: "1/operator/unsuspend", OnOperatorListener(),
        again: .same, work: .request,
        refusals: [.message, .operator, .account, .stored],
        about: "undoes it")

    public let invite = Endpoint<
        OnOperatorListener, Sealkit_V1_MakeRegistrationCodesRequest, Sealkit_V1_MakeRegistrationCodesResponse
    >(
        "operator/invite", path: "1/operator/invite", OnOperatorListener(),
        again: .once, work: .request,
        refusals: [.message, .operator],
        about: "makes registration codes, which are shown this once. Again: others")

    public let telemetry = Endpoint<OnOperatorListener, Sealkit_V1_TelemetryRequest, Sealkit_V1_TelemetryResponse>(
        "operator/telemetry", path: "1/operator/telemetry", OnOperatorListener(),
        again: .read, work: .request,
        refusals: [.message, .operator, .code(.limitExceeded)],
        about: """
            what the server has counted of requests, in steps of a minute, an hour or a day; more than it reads for one \
            answer is `limitExceeded`
            """)

    public let mailTest = Endpoint<OnOperatorListener, Sealkit_V1_TestMailRequest, Sealkit_V1_TestMailResponse>(
        "operator/mail-test", path: "1/operator/mail-test", OnOperatorListener(),
        again: .once, work: .request,
        refusals: [.message, .operator, .code(.serverRejectedRequest)],
        about: """
            sends a mail with a fixed text by the relay that is set up, and says what the relay answered. Without a \
            relay: `serverRejectedRequest`. Again: another mail
            """)
}
