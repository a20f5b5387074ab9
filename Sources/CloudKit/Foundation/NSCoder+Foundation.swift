import Foundation

/// Reading archives without trusting them: on this platform an unarchiver whose policy is to raise exceptions, as it is
/// where an app says nothing else, ends the process for a key that is missing and for an object of a class that was not
/// expected. So a key is looked for first, any of Foundation's values is taken, and what it is decided afterwards.
extension NSCoder {
    private static let values: [AnyClass] = [
        NSDictionary.self, NSArray.self, NSString.self, NSData.self, NSNumber.self, NSDate.self,
    ]

    /// A value of Foundation's, with those within it; nil where there is none.
    func value(_ key: String) -> Any? {
        containsValue(forKey: key) ? decodeObject(of: Self.values, forKey: key) : nil
    }

    func text(_ key: String) -> String? { value(key) as? String }

    func bytes(_ key: String) -> Data? { value(key) as? Data }

    /// One of this module's objects; nil where there is none.
    func object<Object: NSObject & NSSecureCoding>(_ type: Object.Type, _ key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: Self.values + [type], forKey: key) as? Object : nil
    }
}
