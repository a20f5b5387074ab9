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

    /// An id is taken among bundles of its kind only: those of printed keys tell nothing of passphrases.
    static let recoveryKinds = Migration(
        name: "recovery-kinds",
        sql: """
            CREATE TABLE recovery_bundle_new (
                recovery_id BLOB NOT NULL,
                kind BIGINT NOT NULL,
                account BIGINT NOT NULL REFERENCES account (id),
                sealed BLOB NOT NULL,
                saved BIGINT NOT NULL,
                PRIMARY KEY (recovery_id, kind)
            );
            INSERT INTO recovery_bundle_new (recovery_id, kind, account, sealed, saved)
                SELECT recovery_id, kind, account, sealed, saved FROM recovery_bundle;
            DROP TABLE recovery_bundle;
            ALTER TABLE recovery_bundle_new RENAME TO recovery_bundle;
            CREATE INDEX recovery_bundle_account ON recovery_bundle (account);
            """)
}
