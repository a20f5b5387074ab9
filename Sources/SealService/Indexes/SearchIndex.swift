import SealQuery
import SealStorage

/// The words of searchable texts: in SQLite's full-text index; in PostgreSQL, which has nothing of that kind, in an
/// index of the documents' own terms.
///
/// FTS5 stores and intersects; what a word is, `Words` says, for the server and for clients alike. Each term carries
/// its zone and type, so that a search reads nobody else's lists. The index has no texts of its own: a document's terms
/// are kept in `search_document`, from where they are taken back exactly as they went in.
struct SearchIndex {
    let zone: ZoneRow
    let connection: any SQLConnection

    /// Public databases are numbered downwards from zero, and a term has letters, digits and underscores only.
    static func term(_ word: String, _ zone: ZoneRow, type: String) -> String {
        "\(zone.owner < 0 ? "p" : "")\(zone.owner.magnitude)_\(zone.number)_\(type)_\(word)"
    }

    /// Puts a record's words in the place of those that it had.
    /// - Parameter check: throws where so many are too many; nothing has changed then.
    /// - Returns: how many words came and went.
    @discardableResult
    func replace(
        _ words: Set<String>, of record: String, type: String, check: (_ count: Int) throws -> Void = { _ in }
    ) throws -> Int {
        let known = try document(of: record)
        let gone = known.map { Self.count($0.terms) } ?? 0
        try check(gone + words.count)
        if let known { try Self.remove(known.id, known.terms, connection) }
        guard !words.isEmpty else {
            if known != nil {
                try connection.execute(
                    "DELETE FROM search_document WHERE owner = $1 AND zone = $2 AND record = $3",
                    zone.key + [.text(record)])
            }
            return gone
        }
        let terms = words.map { Self.term($0, zone, type: type) }.joined(separator: " ")
        let id = try connection.first(
            connection.dialect == .sqlite ? Self.numbering : Self.numbered, zone.key + [.text(record), .text(terms)]
        ) { try $0.int64("id") }
        guard let id else { throw StorageError.failed(code: 0, message: "the document's row was not made") }
        if connection.dialect == .sqlite {
            try connection.execute(
                "INSERT INTO search_term (rowid, terms) VALUES ($1, $2)", [.integer(id), .text(terms)])
        }
        return gone + words.count
    }

    /// In SQLite, which has one writer.
    private static let numbering = """
        INSERT INTO search_document (owner, zone, record, id, terms)
        SELECT $1, $2, $3, COALESCE(MAX(id), 0) + 1, $4 FROM search_document WHERE true
        ON CONFLICT (owner, zone, record) DO UPDATE SET terms = excluded.terms RETURNING id
        """
    /// PostgreSQL numbers documents itself, for several that write.
    private static let numbered = """
        INSERT INTO search_document (owner, zone, record, terms) VALUES ($1, $2, $3, $4)
        ON CONFLICT (owner, zone, record) DO UPDATE SET terms = excluded.terms RETURNING id
        """

    /// Of all documents: where they were copied without their words.
    static func makeAnew(in connection: any SQLConnection) throws {
        try connection.execute(
            "INSERT INTO search_term (rowid, terms) SELECT id, terms FROM search_document ORDER BY id")
    }

    /// Whether these are the words that a record has in the index.
    func has(_ words: Set<String>, of record: String, type: String) throws -> Bool {
        guard let terms = try document(of: record)?.terms else { return words.isEmpty }
        return Self.count(terms) == words.count
            && Set(terms.split(separator: " ")) == Set(words.map { Self.term($0, zone, type: type)[...] })
    }

    private func document(of record: String) throws -> (id: Int64, terms: String)? {
        try connection.first(
            "SELECT id, terms FROM search_document WHERE owner = $1 AND zone = $2 AND record = $3",
            zone.key + [.text(record)]
        ) { (id: try $0.int64("id"), terms: try $0.text("terms")) }
    }

    private static func count(_ terms: String) -> Int { terms.utf8.count { $0 == UInt8(ascii: " ") } + 1 }

    private static func remove(_ id: Int64, _ terms: String, _ connection: any SQLConnection) throws {
        guard connection.dialect == .sqlite else { return }
        try connection.execute(
            "INSERT INTO search_term (search_term, rowid, terms) VALUES ('delete', $1, $2)",
            [.integer(id), .text(terms)])
    }

    /// Takes out some of a zone's documents, as far as there is room.
    /// - Parameters:
    ///   - zone: `ZoneRow.key`.
    ///   - rows: that there is room for; `bytes` likewise.
    static func remove(
        from zone: [SQLValue], rows: inout Int, bytes: inout Int, in connection: any SQLConnection
    ) throws {
        var documents: [(id: Int64, terms: String)] = []
        try connection.stream(
            "SELECT id, terms FROM search_document WHERE owner = $1 AND zone = $2 LIMIT $3",
            zone + [.integer(Int64(rows))]
        ) { row in
            let (id, terms) = (try row.int64("id"), try row.text("terms"))
            documents.append((id, terms))
            rows -= 1
            bytes -= terms.utf8.count
            return rows > 0 && bytes > 0
        }
        for document in documents {
            try remove(document.id, document.terms, connection)
            try connection.execute(
                "DELETE FROM search_document WHERE owner = $1 AND zone = $2 AND id = $3",
                zone + [.integer(document.id)])
        }
    }

    /// Takes out some of an owner's documents, whatever zones they are of.
    /// - Returns: how many there were.
    static func remove(of owner: Int64, atMost count: Int, in connection: any SQLConnection) throws -> Int {
        let documents = try connection.rows(
            "SELECT id, terms FROM search_document WHERE owner = $1 LIMIT $2",
            [.integer(owner), .integer(Int64(count))]
        ) { (id: try $0.int64("id"), terms: try $0.text("terms")) }
        for document in documents {
            try remove(document.id, document.terms, connection)
            try connection.execute(
                "DELETE FROM search_document WHERE owner = $1 AND id = $2", [.integer(owner), .integer(document.id)])
        }
        return documents.count
    }

    /// Documents with any, or all, of these words, in the order of their numbers.
    func find(
        _ words: Set<String>, all: Bool, type: String, after id: Int64, limit: Int
    ) throws -> [(id: Int64, record: String)] {
        guard !words.isEmpty else { return [] }
        guard connection.dialect == .sqlite else {
            let terms = words.map { Self.term($0, zone, type: type) }.sorted().joined(separator: " ")
            return try connection.rows(
                """
                SELECT id, record FROM search_document
                WHERE owner = $1 AND zone = $2 AND string_to_array(terms, ' ') \(all ? "@>" : "&&") string_to_array($3, ' ')
                    AND id > $4
                ORDER BY id LIMIT $5
                """, zone.key + [.text(terms), .integer(id), .integer(Int64(limit))]
            ) { (try $0.int64("id"), try $0.text("record")) }
        }
        // Words are letters and digits, and quoted: nothing of them is taken for an operator.
        let match = words.map { "\"\(Self.term($0, zone, type: type))\"" }.sorted().joined(
            separator: all ? " AND " : " OR ")
        return try connection.rows(
            """
            SELECT d.id, d.record FROM search_term t JOIN search_document d ON d.id = t.rowid
            WHERE search_term MATCH $1 AND t.rowid > $2 ORDER BY t.rowid LIMIT $3
            """, [.text(match), .integer(id), .integer(Int64(limit))]
        ) { (try $0.int64("id"), try $0.text("record")) }
    }
}
