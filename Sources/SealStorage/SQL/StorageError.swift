/// What can go wrong underneath a transaction. No case carries a bound value.
package enum StorageError: Error, Equatable {
    /// The disk (or the database's page limit) is full; the transaction left nothing behind.
    case full
    /// A constraint of the schema was violated; `message` names the constraint. Callers that expect one catch it.
    case constraint(message: String)
    /// The result has no column of the name that the code asked for.
    case unknownColumn(name: String)
    /// Two columns of the result have the same name.
    case ambiguousColumn(name: String)
    /// The column does not hold the kind of value that the code asked for.
    case unexpectedType(column: String, wanted: String)
    /// The statement has parameters that were given no value, or values for parameters that it does not have.
    case wrongParameters(sql: String)
    /// What the database has on its disk is not what it wrote there.
    case damaged(message: String)
    /// The database answered with an error of its own: a mistake in SQL, as a rule. The code is SQLite's extended one,
    /// or 0 for PostgreSQL, whose message begins with its own.
    case failed(code: Int, message: String)
    /// The role that the server has at its database lacks a right there.
    case denied(message: String)
    /// A transaction was cut short in the database's file, which is read alone here: whoever opens it for writing takes
    /// that transaction back.
    case unsettled
    /// The transaction was taken back because another one in the same commit failed with the disk.
    case commitFailed(message: String)
    /// The database was made by another version of the server, with steps that this one does not know.
    case unknownSchema(file: String, migration: String)
    /// The server of the database is away, or the connection to it was lost. Whether a write is there that was being
    /// committed is not known then; of any other nothing is.
    case unavailable(message: String)
    /// The database is none that a server may run on; `message` says why, and what to do.
    case unsuitable(message: String)
    /// A text has the character U+0000.
    case zeroCharacter
    /// A setting that the database needs is not there, or not valid.
    case invalidSetting(name: String)
    /// The shard has given out all of its numbers, or is none.
    case noNumber(shard: Int64)
    /// The server is shutting down.
    case closed
    /// Another program holds the database's file, and did not let go of it in the time that one waits for that.
    case inUse
    /// More writes wait already than are answered in time; this one was not begun.
    case busy
    /// The transaction had held the writer for as long as one request may; nothing of it was written.
    case overBudget
}

extension StorageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .full: "the disk is full"
        case .constraint(let message): "constraint violated: \(message)"
        case .unknownColumn(let name): "the result has no column \(name)"
        case .ambiguousColumn(let name): "the result has more than one column \(name)"
        case .unexpectedType(let column, let wanted): "column \(column) does not hold \(wanted)"
        case .wrongParameters(let sql): "parameters and values do not match: \(sql)"
        case .damaged(let message): "the database is damaged: \(message)"
        case .failed(let code, let message): "database error \(code): \(message)"
        case .denied(let message):
            "the database refuses that to the server's role: \(message). The role has to own the database and all that is "
                + "in it: createdb --owner=ROLE, or ALTER DATABASE … OWNER TO …."
        case .unsettled:
            "a transaction was cut short in the database's file, and is to be taken back first. Start the server on it "
                + "once, which does that, and stop it."
        case .commitFailed(let message): "the commit failed: \(message)"
        case .unknownSchema(let file, let migration):
            "\(file) was made by another version (it has the migration “\(migration)”, which this one does not know). "
                + "Run the version that made it, or restore a backup that this one made."
        case .unavailable(let message): "the database cannot be reached: \(message)"
        case .unsuitable(let message): message
        case .zeroCharacter: "a text has the character U+0000, which the database does not hold"
        case .invalidSetting(let name):
            "the database's setting “\(name)” is missing or not valid. Restore the row of the table settings from a backup."
        case .noNumber(let shard): "shard \(shard) has no numbers left. Make new accounts in another one."
        case .closed: "the database is closed"
        case .inUse: "another program holds the database's file"
        case .busy: "too many writes are waiting"
        case .overBudget: "the request has used up its time on the writer"
        }
    }
}
