import ArgumentParser
import SealKit

/// `per-record` or `per-zone`.
enum EncryptionScopeArgument: String, ExpressibleByArgument, CaseIterable {
    case perRecord = "per-record"
    case perZone = "per-zone"

    init(_ scope: RecordZone.EncryptionScope) {
        self =
            switch scope {
            case .perRecord: .perRecord
            case .perZone: .perZone
            }
    }

    var scope: RecordZone.EncryptionScope {
        switch self {
        case .perRecord: .perRecord
        case .perZone: .perZone
        }
    }
}
