public import Foundation
import SealKit
import Synchronization

/// Which records are wanted, and in which order.
///
/// Predicates are in CloudKit's language; what a server cannot be asked fails the call (`invalidArguments`).
public final class CKQuery: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    public let recordType: CKRecord.RecordType
    public let predicate: NSPredicate
    private let order: Mutex<Order>

    /// Sort descriptors never change; Foundation says nothing of threads.
    private struct Order: @unchecked Sendable {
        var descriptors: [NSSortDescriptor]?
    }

    /// In the order in which they count.
    public var sortDescriptors: [NSSortDescriptor]? {
        get { order.withLock { $0 }.descriptors }
        set {
            let new = Order(descriptors: newValue)
            order.withLock { $0 = new }
        }
    }

    public init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
        self.recordType = recordType
        self.predicate = predicate
        order = Mutex(Order())
    }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let type = coder.text("RecordType"), let predicate = coder.predicate("Predicate"),
            let sorts = coder.sortDescriptors("SortDescriptors")
        else { return nil }
        recordType = type
        self.predicate = predicate
        order = Mutex(Order(descriptors: sorts.isEmpty ? nil : sorts))
    }

    /// A predicate or an order that no server can be asked by is no part of an archive, which then cannot be read.
    public func encode(with coder: NSCoder) {
        coder.encode(NSString(string: recordType), forKey: "RecordType")
        coder.encode(predicate, as: "Predicate")
        coder.encode(sortDescriptors ?? [], as: "SortDescriptors")
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKQuery(recordType: recordType, predicate: predicate)
        copy.sortDescriptors = sortDescriptors
        return copy
    }

    public override var description: String { "<CKQuery: recordType=\(recordType)>" }

    /// - Throws: `invalidArguments`.
    func sealed() throws(SealKitError) -> SealKit.Query {
        var sorts: [SealKit.Query.SortDescriptor] = []
        for descriptor in sortDescriptors ?? [] { sorts.append(try SealKit.Query.SortDescriptor(descriptor)) }
        return SealKit.Query(
            recordType: recordType, predicate: try SealKit.Query.Predicate(predicate), sortDescriptors: sorts)
    }
}
