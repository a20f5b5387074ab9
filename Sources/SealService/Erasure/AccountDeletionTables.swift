/// Accounts that are being erased. What stays of one, so that nobody gets its names again, has the negative number.
enum AccountDeletionTables {
    static let tables = """
        CREATE TABLE account_deletion (
            account BIGINT NOT NULL PRIMARY KEY,
            swept BIGINT NOT NULL
        );
        """
}
