/// Answers that are kept for their repetition. Rows in the order in which they are kept, ids first in their index:
/// clients begin an id with the time, so that what is kept together lies together.
extension Tables {
    static let operations: [Table] = [
        Table(
            "operation", key: "number", whose: .account("account"),
            erased: .apart("answers lie in the order in which they were given, and are gone through once"),
            billed: .rows(.init(values: ["response"], isReported: true)),
            history: [
                .baseline: """
                CREATE TABLE operation (
                    number INTEGER PRIMARY KEY,
                    account BIGINT NOT NULL,
                    id BLOB NOT NULL,
                    kind TEXT NOT NULL,
                    request BLOB NOT NULL,
                    response BLOB NOT NULL,
                    created BIGINT NOT NULL
                );
                CREATE UNIQUE INDEX operation_id ON operation (id, account);
                """
            ])
    ]
}
