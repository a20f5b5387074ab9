import Foundation
import SealKit

/// Saves and deletes records.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    public enum RecordSavePolicy: Int, Sendable {
        /// The record must not have changed since it was fetched.
        case ifServerRecordUnchanged = 0
        /// Changed keys are merged into whatever the server has.
        case changedKeys = 1
        /// All keys of the record replace the server's.
        case allKeys = 2

        var sealed: SealKit.Database.SavePolicy {
            switch self {
            case .ifServerRecordUnchanged: .ifServerRecordUnchanged
            case .changedKeys: .changedKeys
            case .allKeys: .allKeys
            }
        }
    }
}
