import SealStorage

/// A table of the database, as it is declared: once, with all that others have to know of it. What goes with an account
/// or a zone, what is billed, and the schema's history follow from the declarations of all tables (`Tables`).
struct Table: Sendable {
    let name: String
    /// The columns of its primary key, in their order.
    let key: String
    let whose: Whose
    let erased: Erased
    let billed: Billed
    /// Columns besides that name an account, an identity or a user.
    let mentions: [Mention]
    /// Whether others find a zone by its rows: those go at once when its owner's account is closed, before all else.
    let findsZones: Bool
    /// Its statements in the schema's history, by step.
    let history: [MigrationStep: String]
    /// PostgreSQL's in their place, where it has nothing of the kind.
    let postgres: [MigrationStep: String]

    init(
        _ name: String, key: String, whose: Whose, erased: Erased, billed: Billed, mentions: [Mention] = [],
        findsZones: Bool = false, history: [MigrationStep: String], postgres: [MigrationStep: String] = [:]
    ) {
        self.name = name
        self.key = key
        self.whose = whose
        self.erased = erased
        self.billed = billed
        self.mentions = mentions
        self.findsZones = findsZones
        self.history = history
        self.postgres = postgres
    }

    func statements(of step: MigrationStep, in dialect: SQLDialect) -> String? {
        dialect == .postgres ? postgres[step] ?? history[step] : history[step]
    }
}
