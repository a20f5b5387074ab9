/// Devices, the sessions that belong to them, and the mailboxes by which one device enrols another.
enum DeviceTables {
    static let tables = """
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
}
