extension Endpoints {
    public static let monitoring = MonitoringEndpoints()
}

/// What the server's operator looks up of single requests, and is told of, beside `OperatorEndpoints`.
public struct MonitoringEndpoints: Sendable {
    public let logs = Endpoint<OnOperatorListener, Sealkit_V1_LogRequest, Sealkit_V1_LogResponse>(
        "operator/logs", path: "1/operator/logs", OnOperatorListener(),
        again: .read, work: .request,
        refusals: [.message, .operator],
        about: "single requests of the last week, newest first, in pages: those that fit what is asked")

    public let logQueries = Endpoint<
        OnOperatorListener, Sealkit_V1_ListLogQueriesRequest, Sealkit_V1_ListLogQueriesResponse
    >(
        "operator/log-queries", path: "1/operator/log-queries", OnOperatorListener(),
        again: .read, work: .request,
        refusals: [.message, .operator],
        about: "queries of the log that are kept by name")

    public let saveLogQuery = Endpoint<
        OnOperatorListener, Sealkit_V1_SaveLogQueryRequest, Sealkit_V1_SaveLogQueryResponse
    >(
        "operator/log-queries/save", path: "1/operator/log-queries/save", OnOperatorListener(),
        again: .same, work: .request,
        refusals: [.message, .operator, .stored, .code(.limitExceeded)],
        about: "keeps one, in the place of the one of its name; beyond a hundred `limitExceeded`")

    public let removeLogQuery = Endpoint<
        OnOperatorListener, Sealkit_V1_RemoveLogQueryRequest, Sealkit_V1_RemoveLogQueryResponse
    >(
        "operator/log-queries/remove", path: "1/operator/log-queries/remove", OnOperatorListener(),
        again: .once, work: .request,
        refusals: [.message, .operator, .stored, .code(.unknownItem)],
        about: "keeps one no more. Again: `unknownItem`")

    public let events = Endpoint<OnOperatorListener, Sealkit_V1_ListEventsRequest, Sealkit_V1_ListEventsResponse>(
        "operator/events", path: "1/operator/events", OnOperatorListener(),
        again: .read, work: .request,
        refusals: [.message, .operator, .account],
        about: """
            changes of schemas, tokens and keys made and revoked, accounts made, deleted and suspended, quotas: newest \
            first, in pages
            """)

    public let alerts = Endpoint<OnOperatorListener, Sealkit_V1_ListAlertsRequest, Sealkit_V1_ListAlertsResponse>(
        "operator/alerts", path: "1/operator/alerts", OnOperatorListener(),
        again: .read, work: .request,
        refusals: [.message, .operator],
        about: "alerts, and how each stands")

    public let addAlert = Endpoint<OnOperatorListener, Sealkit_V1_AddAlertRequest, Sealkit_V1_AddAlertResponse>(
        "operator/alerts/add", path: "1/operator/alerts/add", OnOperatorListener(),
        again: .same, work: .request,
        refusals: [.message, .operator, .stored, .code(.limitExceeded), .code(.serverRejectedRequest)],
        about: """
            an alert, in the place of the one of its name ("Alerts"). Mail without a relay, or counts of a server without \
            telemetry: `serverRejectedRequest`; beyond a hundred `limitExceeded`. Again: it begins quiet
            """)

    public let removeAlert = Endpoint<
        OnOperatorListener, Sealkit_V1_RemoveAlertRequest, Sealkit_V1_RemoveAlertResponse
    >(
        "operator/alerts/remove", path: "1/operator/alerts/remove", OnOperatorListener(),
        again: .once, work: .request,
        refusals: [.message, .operator, .stored, .code(.unknownItem)],
        about: "ends one, with its messages that wait. Again: `unknownItem`")

    public let testAlert = Endpoint<OnOperatorListener, Sealkit_V1_TestAlertRequest, Sealkit_V1_TestAlertResponse>(
        "operator/alerts/test", path: "1/operator/alerts/test", OnOperatorListener(),
        again: .once, work: .request,
        refusals: [.message, .operator, .code(.unknownItem)],
        about: "what it reads now, and a message to everybody whom it tells. Again: another message")

    public let alertHistory = Endpoint<
        OnOperatorListener, Sealkit_V1_AlertHistoryRequest, Sealkit_V1_AlertHistoryResponse
    >(
        "operator/alerts/history", path: "1/operator/alerts/history", OnOperatorListener(),
        again: .read, work: .request,
        refusals: [.message, .operator],
        about: "when alerts fired and recovered, newest first, in pages")
}
