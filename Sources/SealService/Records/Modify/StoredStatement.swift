import SealStatements
import Synchronization

/// A stored statement, which most saves are not compared with: decoded where one first is, and once.
final class StoredStatement: Sendable {
    let bytes: [UInt8]
    private let found = Mutex<Statement??>(nil)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// nil for one that does not decode.
    var decoded: Statement? {
        found.withLock { found in
            if let found { return found }
            let statement = try? Statement(canonicalBytes: bytes)
            found = .some(statement)
            return statement
        }
    }
}
