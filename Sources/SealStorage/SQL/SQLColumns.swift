/// Where the columns of a prepared statement's result are, by name. An engine makes one with each statement that it
/// prepares, and keeps it as long as that.
///
/// The code that reads a row asks for the same columns in the same order each time, with the same literals. So what is
/// compared are addresses of literals, first with that of the column after the last one; bytes are compared once for
/// each literal.
final class SQLColumns {
    private let names: [String]
    /// By column, the literal that it was asked for with last; behind the last column, none. Memory of its own, since a
    /// value is read for less than what Swift's check of exclusive access costs.
    private let literals: UnsafeMutablePointer<UnsafePointer<UInt8>?>
    /// Which column comes after the one that was asked for last.
    private let next: UnsafeMutablePointer<Int>

    /// - Throws: `ambiguousColumn`: of two columns with one name nobody can say which is meant.
    init(_ names: [String]) throws(StorageError) {
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw .ambiguousColumn(name: name)
        }
        self.names = names
        literals = .allocate(capacity: names.count + 1)
        literals.initialize(repeating: nil, count: names.count + 1)
        next = .allocate(capacity: 1)
        next.initialize(to: 0)
    }

    deinit {
        literals.deallocate()
        next.deallocate()
    }

    /// The next row is read, from its first column as a rule.
    func begin() { next.pointee = 0 }

    /// - Throws: `unknownColumn`.
    @inline(__always)
    func index(of name: StaticString) throws(StorageError) -> Int {
        let likely = next.pointee
        guard literals[likely] == name.utf8Start else { return try find(name) }
        next.pointee = likely &+ 1
        return likely
    }

    @inline(never)
    private func find(_ name: StaticString) throws(StorageError) -> Int {
        let literal = name.utf8Start
        let known = names.indices.first { literals[$0] == literal }
        guard let found = known ?? names.firstIndex(of: name.description) else {
            throw .unknownColumn(name: name.description)
        }
        literals[found] = literal
        next.pointee = found + 1
        return found
    }
}
