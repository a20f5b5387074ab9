/// Events: what happened to accounts, schemas, tokens and keys. Those of an account go with it; that one was deleted is
/// an event of nobody's. Times are microseconds since 1970.
extension Tables {
    static let events: [Table] = [
        Table(
            "management_event", key: "number", whose: .account("account"), erased: .atClosing,
            billed: .free("120,000 at most, for two years"),
            history: [
                .managementEvents: """
                CREATE TABLE management_event (
                    number INTEGER PRIMARY KEY,
                    time BIGINT NOT NULL,
                    kind TEXT NOT NULL,
                    container TEXT,
                    environment BIGINT,
                    account BIGINT,
                    detail TEXT NOT NULL
                );
                CREATE INDEX management_event_account ON management_event (account) WHERE account IS NOT NULL;
                """
            ])
    ]
}
