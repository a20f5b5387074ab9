public import Foundation

extension UserDefaults {
    /// What every object has on Apple's platforms, and apps keep tokens and flags with.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }

    /// The same of reading.
    public func value(forKey key: String) -> Any? { object(forKey: key) }
}
