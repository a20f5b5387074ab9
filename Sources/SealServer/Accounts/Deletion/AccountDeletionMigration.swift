extension Migration {
    /// Accounts that are being erased. What stays of one, so that nobody gets its names again, has the negative number.
    static let accountDeletion = Migration(
        name: "account-deletion",
        sql: """
            CREATE TABLE account_deletion (
                account BIGINT NOT NULL PRIMARY KEY,
                swept BIGINT NOT NULL
            );
            """)
}
