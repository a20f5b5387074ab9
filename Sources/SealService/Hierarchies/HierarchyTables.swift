/// What waits to be moved after its parent or out of a share that has ended, and how many roots of shares are below
/// each record. Keyed as the zones' tables are.
enum HierarchyTables {
    static let tables = """
        CREATE TABLE unsettled_parent (
            owner BIGINT NOT NULL,
            zone BIGINT NOT NULL,
            name TEXT NOT NULL,
            settled TEXT NOT NULL,
            PRIMARY KEY (owner, zone, name)
        );
        CREATE TABLE unsettled_share (
            owner BIGINT NOT NULL,
            zone BIGINT NOT NULL,
            share BIGINT NOT NULL,
            settled BIGINT NOT NULL,
            PRIMARY KEY (owner, zone, share)
        );
        CREATE TABLE roots_below (
            owner BIGINT NOT NULL,
            zone BIGINT NOT NULL,
            name TEXT NOT NULL,
            roots BIGINT NOT NULL,
            PRIMARY KEY (owner, zone, name)
        );
        """
}
