extension Endpoints {
    public static let server = ServerEndpoints()
}

/// What a server says of itself to everybody.
public struct ServerEndpoints: Sendable {
    public let health = Endpoint<ByAnyone, NoContent, JSONContent>(
        "health", .get, path: "health", ByAnyone(),
        again: .read, work: .request, body: .none,
        refusals: [],
        about: #""Health""#)

    public let limits = Endpoint<ByAnyone, NoContent, Sealkit_V1_LimitsResponse>(
        "limits", .get, path: "1/limits", ByAnyone(),
        again: .read, work: .request,
        refusals: [],
        about: """
            "Limits": this server's numbers; `registration` says who may make an account: `open`, `invite`, `closed`; \
            `origin` is the server's name for itself; `codes` how codes go out: `mail`, `text`, and `mail-failing`, \
            `text-failing` beside them where the latest did not, the same for everybody; `web_bundle` is the hash of the \
            web client, where the server has it. A client passes over other words
            """)

    public let tokenKeys = Endpoint<ByAnyone, NoContent, Sealkit_V1_TokenKeysResponse>(
        "token-keys", .get, path: ".well-known/sealkit/token-keys", ByAnyone(),
        again: .read, work: .request,
        refusals: [],
        about: #"keys of verification tokens ("Published keys")"#)

    public let webhookKeys = Endpoint<ByAnyone, NoContent, Sealkit_V1_TokenKeysResponse>(
        "webhook-keys", .get, path: ".well-known/sealkit/webhook-keys", ByAnyone(),
        again: .read, work: .request,
        refusals: [],
        about: #"keys of webhooks ("Published keys")"#)

    public let sharePage = Endpoint<ByAnyone, NoContent, HTMLContent>(
        "share-page", .get, path: "s/{routing}", ByAnyone(),
        again: .read, work: .request, body: .none,
        refusals: [],
        about: """
            the page that a share's URL shows in a browser ("The web client"): the same for every id. It takes nothing, \
            and tells nothing of any share
            """)

    public let sharePageHead = Endpoint<ByAnyone, NoContent, NoContent>(
        "share-page/head", .head, path: "s/{routing}", ByAnyone(),
        again: .read, work: .request, body: .none,
        refusals: [],
        about: "the same without the page")

    public let webFile = Endpoint<ByAnyone, NoContent, BytesContent>(
        "web-file", .get, path: "w/{bundle}/{file}", ByAnyone(),
        again: .read, work: .request, body: .none,
        refusals: [.code(.unknownItem)],
        about: """
            a file of the web client, by the hash of its bundle ("The web client"), in the best of `br`, `gzip` and \
            `identity` that is accepted
            """)
}
