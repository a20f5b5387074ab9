/// What operators keep to watch the server by: queries of the log, alerts, when they fired, and the messages of them
/// that wait. Times are microseconds since 1970.
extension Tables {
    static let monitoring: [Table] = [
        Table(
            "log_query", key: "name", whose: .server, erased: .kept("the operator's"),
            billed: .free("the operator's, a hundred at most"),
            history: [
                .logQueries: """
                CREATE TABLE log_query (
                    name TEXT NOT NULL PRIMARY KEY,
                    query BLOB NOT NULL
                );
                """
            ]),
        Table(
            "alert", key: "name", whose: .server, erased: .kept("the operator's"),
            billed: .free("the operator's, a hundred at most"),
            history: [
                .alerts: """
                CREATE TABLE alert (
                    name TEXT NOT NULL PRIMARY KEY,
                    sealed BLOB NOT NULL,
                    created BIGINT NOT NULL,
                    firing BIGINT NOT NULL,
                    since BIGINT NOT NULL,
                    checked BIGINT NOT NULL,
                    value DOUBLE PRECISION,
                    threshold DOUBLE PRECISION,
                    due BIGINT NOT NULL
                );
                """
            ]),
        Table(
            "alert_change", key: "number", whose: .server, erased: .kept("the operator's"),
            billed: .free("the operator's, ten thousand at most"),
            history: [
                .alerts: """
                CREATE TABLE alert_change (
                    number INTEGER PRIMARY KEY,
                    time BIGINT NOT NULL,
                    name TEXT NOT NULL,
                    fired BIGINT NOT NULL,
                    value DOUBLE PRECISION,
                    threshold DOUBLE PRECISION
                );
                """
            ]),
        Table(
            "alert_message", key: "id", whose: .server, erased: .kept("it ends within a day"),
            billed: .free("ends within a day"),
            history: [
                .alerts: """
                CREATE TABLE alert_message (
                    id BLOB NOT NULL PRIMARY KEY,
                    alert TEXT NOT NULL,
                    sealed BLOB NOT NULL,
                    due BIGINT NOT NULL,
                    since BIGINT NOT NULL,
                    attempts BIGINT NOT NULL
                );
                """
            ]),
    ]
}
