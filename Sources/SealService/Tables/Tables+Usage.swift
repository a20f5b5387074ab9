/// How much is stored. Keyed by account, whose quota it is; within it by the number that it is kept for and the zone,
/// which is 0 beside zones. Owner 0 is the account's total.
extension Tables {
    static let usage: [Table] = [
        Table(
            "storage_usage", key: "account, owner, zone", whose: .account("account"),
            erased: .apart("the sums follow all that they are of"),
            billed: .free("the bill"),
            mentions: [.init("owner", .itsOwn)],
            history: [
                .baseline: """
                CREATE TABLE storage_usage (
                    account BIGINT NOT NULL,
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    records BIGINT NOT NULL,
                    bytes BIGINT NOT NULL,
                    PRIMARY KEY (account, owner, zone)
                );
                """
            ])
    ]
}
