import Foundation
import SealKit

/// Asks for records.
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    public typealias Cursor = CKQueryCursor

    /// As a limit of results: the server decides.
    public static let maximumResults = 0
}
