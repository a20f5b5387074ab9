extension Migration {
    /// Several recovery bundles an account, and login keys that others took the place of. Times are microseconds since 1970,
    /// 0 for a key in use.
    static let newKeys = Migration(
        name: "new-keys",
        sql: """
            ALTER TABLE recovery_bundle ADD COLUMN kind BIGINT NOT NULL DEFAULT 1;
            ALTER TABLE recovery_bundle ADD COLUMN saved BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE login_key ADD COLUMN replaced BIGINT NOT NULL DEFAULT 0;
            """)
}
