import Foundation

/// Percent-encoding in a path's parts, in headers, and in fields of forms: zone names hold any printable ASCII, slashes
/// included.
enum PercentEncoding {
    /// Letters and digits, and what stands for itself everywhere (RFC 3986's unreserved characters but the tilde).
    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._")

    /// Nil for a broken escape or anything that is not UTF-8.
    static func decode(_ text: String) -> String? {
        guard text.utf8.contains(0x25) else { return text }
        return text.removingPercentEncoding
    }

    /// Nothing but letters, digits, hyphens, dots, underscores and escapes.
    static func encode(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }
}
