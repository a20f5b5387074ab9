/// What queries are answered from. Nothing here is data of its own: all of it follows from the records and the schema.
enum QueryTables {
    static let tables = """
        CREATE TABLE record_index (
            owner BIGINT NOT NULL,
            zone BIGINT NOT NULL,
            field BIGINT NOT NULL,
            value BLOB NOT NULL,
            record TEXT NOT NULL,
            position BIGINT NOT NULL,
            PRIMARY KEY (owner, zone, field, value, record, position)
        );
        CREATE TABLE search_document (
            owner BIGINT NOT NULL,
            zone BIGINT NOT NULL,
            record TEXT NOT NULL,
            id BIGINT NOT NULL UNIQUE,
            terms TEXT NOT NULL,
            PRIMARY KEY (owner, zone, record)
        );
        CREATE VIRTUAL TABLE search_term USING fts5 (
            terms, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '_'"
        );
        CREATE TABLE index_build (
            field BIGINT NOT NULL PRIMARY KEY,
            container TEXT NOT NULL,
            environment BIGINT NOT NULL,
            type TEXT NOT NULL,
            owner BIGINT NOT NULL,
            zone BIGINT NOT NULL,
            record TEXT NOT NULL
        );
        """
}
