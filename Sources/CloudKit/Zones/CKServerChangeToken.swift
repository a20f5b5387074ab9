public import Foundation
import SealKit

/// How far a feed was read.
public final class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, Sendable {
    let sealed: ServerChangeToken

    init(_ sealed: ServerChangeToken) { self.sealed = sealed }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        guard let data = coder.bytes("ChangeToken"),
            let sealed = try? JSONDecoder().decode(ServerChangeToken.self, from: data)
        else { return nil }
        self.sealed = sealed
    }

    public func encode(with coder: NSCoder) {
        // A value of strings and bytes: encoding it cannot fail.
        guard let data = try? JSONEncoder().encode(sealed) else { return }
        coder.encode(NSData(data: data), forKey: "ChangeToken")
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKServerChangeToken)?.sealed == sealed }
    public override var hash: Int { sealed.hashValue }
}
