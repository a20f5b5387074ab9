/// Accounts that are being erased (what stays of one, so that nobody gets its names again, has the negative number),
/// and zones of which something is left.
extension Tables {
    static let accountDeletion: [Table] = [
        Table(
            "account_deletion", key: "account", whose: .account("account"),
            erased: .apart("it says that the account is being erased, and goes when that is done"),
            billed: .free("one an account"),
            history: [
                .baseline: """
                CREATE TABLE account_deletion (
                    account BIGINT NOT NULL PRIMARY KEY,
                    swept BIGINT NOT NULL
                );
                """
            ])
    ]

    static let zoneRemains: [Table] = [
        Table(
            "zone_remains", key: "owner, zone", whose: .zone, erased: .withAccount,
            billed: .free("one a zone that is being emptied"),
            history: [
                .baseline: """
                CREATE TABLE zone_remains (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    PRIMARY KEY (owner, zone)
                );
                """
            ])
    ]
}
