extension FixedWidthInteger {
    /// `1 record`, `2 records`.
    /// - Parameter many: where an s does not make it, as with `entries`.
    func counted(_ one: String, _ many: String? = nil) -> String { "\(self) \(self == 1 ? one : many ?? one + "s")" }
}
