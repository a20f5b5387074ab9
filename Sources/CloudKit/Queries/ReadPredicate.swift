import Foundation
import SealKit

/// The predicate of a subscription as the server has it: no text any more, and good for another query and an archive.
final class ReadPredicate: NSPredicate {
    let predicate: SealKit.Query.Predicate

    init(_ predicate: SealKit.Query.Predicate) {
        self.predicate = predicate
        super.init(value: false)
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }
    override func isEqual(_ object: Any?) -> Bool { (object as? ReadPredicate)?.predicate == predicate }
    override var hash: Int { predicate.hashValue }
    override var predicateFormat: String { predicate.conditions.map { "\($0)" }.joined(separator: " AND ") }
}
