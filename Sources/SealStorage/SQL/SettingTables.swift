/// What is decided once for a database, at its creation, and the last number that each shard has given out
/// (`ShardedNumber`).
package enum SettingTables {
    package static let settings = """
        CREATE TABLE settings (
            name TEXT NOT NULL PRIMARY KEY,
            value TEXT NOT NULL
        );
        INSERT INTO settings (name, value) VALUES ('shard', '1');
        """

    package static let shardNumber = """
        CREATE TABLE shard_number (
            shard BIGINT NOT NULL PRIMARY KEY,
            last BIGINT NOT NULL
        );
        """
}
