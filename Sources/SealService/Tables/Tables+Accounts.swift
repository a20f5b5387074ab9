/// Accounts with the keys that log in, recovery bundles, and identities. Accounts and identities have a
/// `ShardedNumber`. Times are microseconds since 1970; a login key that another took the place of has the time of that,
/// one in use 0. An id is taken among recovery bundles of its kind only: those of printed keys tell nothing of
/// passphrases. An account that is suspended has the time since when, and what the operator gave as the reason; one
/// with a quota of its own that, 0 for no limit.
extension Tables {
    static let accounts: [Table] = [
        Table(
            "account", key: "id", whose: .account("id"),
            erased: .kept("its number stays taken; AccountErasure takes its name"),
            billed: .free("one an account"),
            history: [
                .baseline: """
                CREATE TABLE account (
                    id INTEGER PRIMARY KEY,
                    name TEXT NOT NULL UNIQUE,
                    created BIGINT NOT NULL,
                    device_revision BIGINT NOT NULL DEFAULT 0
                );
                """,
                .standingOfAccounts: """
                ALTER TABLE account ADD COLUMN suspended BIGINT;
                ALTER TABLE account ADD COLUMN suspension_reason TEXT;
                ALTER TABLE account ADD COLUMN storage_quota BIGINT;
                """,
            ]),
        Table(
            "login_key", key: "public_key", whose: .account("account"), erased: .kept("nobody registers it again"),
            billed: .rows(.init(values: [], moves: true)),
            history: [
                .baseline: """
                CREATE TABLE login_key (
                    public_key BLOB NOT NULL PRIMARY KEY,
                    account BIGINT NOT NULL REFERENCES account (id),
                    replaced BIGINT NOT NULL DEFAULT 0
                );
                CREATE INDEX login_key_account ON login_key (account);
                """
            ]),
        Table(
            "recovery_bundle", key: "recovery_id, kind", whose: .account("account"), erased: .atClosing,
            billed: .rows(.init(values: ["sealed"])),
            history: [
                .baseline: """
                CREATE TABLE recovery_bundle (
                    recovery_id BLOB NOT NULL,
                    kind BIGINT NOT NULL,
                    account BIGINT NOT NULL REFERENCES account (id),
                    sealed BLOB NOT NULL,
                    saved BIGINT NOT NULL,
                    PRIMARY KEY (recovery_id, kind)
                );
                CREATE INDEX recovery_bundle_account ON recovery_bundle (account);
                """
            ]),
        Table(
            "identity", key: "id", whose: .account("account"),
            erased: .kept("others have signed proof of it, and nobody gets its name"),
            billed: .rows(.init(values: ["chain"], moves: true)),
            mentions: [.init("user_name", .itsOwn)],
            history: [
                .baseline: """
                CREATE TABLE identity (
                    id INTEGER PRIMARY KEY,
                    account BIGINT NOT NULL REFERENCES account (id),
                    container TEXT NOT NULL,
                    user_name TEXT NOT NULL,
                    chain BLOB NOT NULL,
                    UNIQUE (container, user_name),
                    UNIQUE (account, container)
                );
                """
            ]),
    ]
}
