package import SealStatements
import Synchronization

/// A stored statement, which most saves are not compared with: decoded where one first is, and once.
package final class StoredStatement: Sendable {
    package let bytes: [UInt8]
    private let found = Mutex<Statement??>(nil)

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// nil for one that does not decode.
    package var decoded: Statement? {
        found.withLock { found in
            if let found { return found }
            let statement = try? Statement(canonicalBytes: bytes)
            found = .some(statement)
            return statement
        }
    }
}
