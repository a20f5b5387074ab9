/// Every route of the protocol, each once. The server refuses to start where it does not serve one of them, serves one
/// twice, or serves one that is not here; the tables of Vectors/PROTOCOL-TRANSPORT.md are made of it
/// (`sealkit vectors routes`).
public enum Endpoints {
    /// The families in the order of the transport page, each by the heading that its table has there.
    public static let families: [(title: String, routes: [Route])] = [
        ("Server routes", routes(server)),
        ("Account routes", routes(accounts)),
        ("Device routes", routes(devices)),
        ("People and address routes", routes(people)),
        ("Zone routes", routes(zones)),
        ("Record routes", routes(records)),
        ("Asset routes", routes(assets)),
        ("Roster and share routes", routes(sharing)),
        ("Subscription routes", routes(subscriptions)),
        ("Management routes", routes(management)),
    ]

    public static let all = families.flatMap(\.routes)

    /// What the operator's listener serves, and the other one does not: a table of its own.
    public static let operatorFamily = (
        title: "Operator routes", routes: routes(`operator`) + routes(monitoring)
    )

    /// A family's members, so that none is forgotten in a list.
    private static func routes(_ family: some Sendable) -> [Route] {
        Mirror(reflecting: family).children.compactMap { ($0.value as? any AnyEndpoint)?.route }
    }
}
