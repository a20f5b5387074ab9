/// A database's engine itself, with what it is watched by.
package protocol EngineDatabase: SQLDatabase, AnyObject {
    /// How many wait for the writer.
    var waitingWrites: Int { get }
}
