public import Foundation
import SealKit

/// Where a query goes on: `CKQueryOperation.Cursor`.
public final class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, Sendable {
    let sealed: SealKit.Query.Cursor

    init(_ sealed: SealKit.Query.Cursor) { self.sealed = sealed }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let data = coder.bytes("QueryCursor"),
            let sealed = try? JSONDecoder().decode(SealKit.Query.Cursor.self, from: data)
        else { return nil }
        self.sealed = sealed
    }

    public func encode(with coder: NSCoder) {
        // A value of strings and bytes: encoding it cannot fail.
        guard let data = try? JSONEncoder().encode(sealed) else { return }
        coder.encode(NSData(data: data), forKey: "QueryCursor")
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKQueryCursor)?.sealed == sealed }
    public override var hash: Int { sealed.hashValue }
}
