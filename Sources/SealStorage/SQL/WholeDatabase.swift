/// A database that no server runs on meanwhile, for work on all of it at once. One task uses it.
package protocol WholeDatabase {
    /// One moment of it.
    func read<T>(_ body: (any SQLConnection) throws -> T) throws -> T

    /// One transaction, which is durable once this returns, and taken back whole where `body` throws.
    func write<T>(_ body: (any SQLConnection) throws -> T) throws -> T
}
