/// Devices, the sessions that belong to them, and the mailboxes by which one device enrols another.
extension Tables {
    static let devices: [Table] = [
        Table(
            "device", key: "id", whose: .account("account"), erased: .atClosing,
            billed: .rows(.init(values: ["signer", "signature"])),
            history: [
                .baseline: """
                CREATE TABLE device (
                    id INTEGER PRIMARY KEY,
                    account BIGINT NOT NULL REFERENCES account (id),
                    device_id BLOB NOT NULL,
                    name TEXT NOT NULL,
                    added BIGINT NOT NULL,
                    signer BLOB NOT NULL,
                    signature BLOB NOT NULL,
                    last_seen BIGINT NOT NULL,
                    revoked BIGINT NOT NULL,
                    UNIQUE (account, device_id)
                );
                """
            ]),
        Table(
            "session", key: "token_hash", whose: .account("account"), erased: .atClosing,
            billed: .free("twenty a device"),
            history: [
                .baseline: """
                CREATE TABLE session (
                    token_hash BLOB NOT NULL PRIMARY KEY,
                    account BIGINT NOT NULL REFERENCES account (id),
                    device BIGINT NOT NULL REFERENCES device (id),
                    created BIGINT NOT NULL,
                    expires BIGINT NOT NULL
                );
                CREATE INDEX session_account ON session (account);
                CREATE INDEX session_device ON session (device, created);
                CREATE INDEX session_expires ON session (expires);
                """
            ]),
        Table(
            "enrolment", key: "id", whose: .account("account"), erased: .atClosing,
            billed: .free("ends within minutes"),
            history: [
                .baseline: """
                CREATE TABLE enrolment (
                    id BLOB NOT NULL PRIMARY KEY,
                    ticket_hash BLOB NOT NULL,
                    commitment BLOB NOT NULL,
                    account BIGINT REFERENCES account (id),
                    answer BLOB,
                    login_key BLOB,
                    grant_key BLOB,
                    nonce BLOB,
                    sealed BLOB,
                    expires BIGINT NOT NULL
                );
                CREATE INDEX enrolment_account ON enrolment (account);
                CREATE INDEX enrolment_expires ON enrolment (expires);
                """
            ]),
    ]
}
