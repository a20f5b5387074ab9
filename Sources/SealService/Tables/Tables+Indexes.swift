/// What queries are answered from. Nothing here is data of its own: all of it follows from the records and the schema.
extension Tables {
    private static let searchDocument = """
        CREATE TABLE search_document (
            owner BIGINT NOT NULL,
            zone BIGINT NOT NULL,
            record TEXT NOT NULL,
            id BIGINT NOT NULL UNIQUE,
            terms TEXT NOT NULL,
            PRIMARY KEY (owner, zone, record)
        );
        """

    static let indexes: [Table] = [
        Table(
            "record_index", key: "owner, zone, field, value, record, position", whose: .zone, erased: .withZone(.byKey),
            billed: .free("follows from a record"),
            history: [
                .baseline: """
                CREATE TABLE record_index (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    field BIGINT NOT NULL,
                    value BLOB NOT NULL,
                    record TEXT NOT NULL,
                    position BIGINT NOT NULL,
                    PRIMARY KEY (owner, zone, field, value, record, position)
                );
                """
            ]),
        Table(
            "search_document", key: "owner, zone, record", whose: .zone, erased: .withZone(.withWords),
            billed: .free("follows from a record"),
            history: [.baseline: searchDocument],
            // Its documents are their own index there: SearchIndex.
            postgres: [
                .baseline: searchDocument + "\n" + """
                    CREATE INDEX search_document_terms ON search_document USING gin (string_to_array(terms, ' '));
                    """
            ]),
        Table(
            "search_term", key: "rowid", whose: .server, erased: .apart("words go with their document, in SearchIndex"),
            billed: .free("follows from a record"),
            history: [
                .baseline: """
                CREATE VIRTUAL TABLE search_term USING fts5 (
                    terms, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '_'"
                );
                """
            ],
            postgres: [.baseline: ""]),
        Table(
            "index_build", key: "field", whose: .container, erased: .kept("the container's"),
            billed: .free("one a field"),
            mentions: [.init("owner", .kept("only how far it came"))],
            history: [
                .baseline: """
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
            ]),
    ]
}
