package import SealStatements
package import SealStorage

extension SQLRow {
    package func environment(_ column: StaticString) throws(StorageError) -> Environment {
        guard let environment = UInt8(exactly: try int64(column)).flatMap(Environment.init(rawValue:)) else {
            throw .unexpectedType(column: column.description, wanted: "an environment")
        }
        return environment
    }
}
