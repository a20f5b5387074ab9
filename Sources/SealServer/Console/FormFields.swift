import SealService
import SealWire

/// The fields of a query or a form, as browsers send them.
struct FormFields: Sendable {
    /// Of a form's body.
    static let mostBytes = 16 << 10

    private var fields: [(name: String, value: String)]

    /// - Parameter text: `application/x-www-form-urlencoded`.
    /// - Throws: `invalidArguments` for what is no text in UTF-8.
    init(_ text: Substring) throws(ServerError) {
        var fields: [(String, String)] = []
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(pair[0]), let value = Self.decode(pair.count > 1 ? pair[1] : "") else {
                throw ServerError(
                    .invalidArguments, "A field of the form is no text in UTF-8.", remedy: "Send it again.")
            }
            fields.append((name, value))
        }
        self.fields = fields
    }

    init() { fields = [] }

    /// The same, about one container and nobody else's things.
    /// - Throws: `permissionFailure` for what is about another container, by a key of the operator's, or of an account.
    func about(_ container: String) throws(ServerError) -> FormFields {
        let isOthers = fields.contains { field in
            switch field.name {
            case "container": !field.value.isEmpty && field.value != container
            case "key", "account": !field.value.isEmpty
            default: false
            }
        }
        guard !isOthers else {
            throw ServerError(
                .permissionFailure, "The token that you have signed in with is for \(container) alone.",
                remedy: "Sign in with the operator's token for what is beyond it.")
        }
        var about = self
        about.fields = [("container", container)] + fields.filter { $0.name != "container" }
        return about
    }

    /// Empty where there is none.
    subscript(_ name: String) -> String { value(name) ?? "" }

    /// Nil where there is none.
    func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Of a field that may be there several times, or has a word a line.
    func all(_ name: String) -> [String] {
        fields.filter { $0.name == name }.flatMap { $0.value.split(whereSeparator: \.isNewline) }
            .map { $0.trimmingSpaces }.filter { !$0.isEmpty }
    }

    private static func decode(_ text: Substring) -> String? {
        PercentEncoding.decode(String(text.replacing("+", with: " ")))
    }

    /// A query of some of them, for a link.
    func query(_ names: [String], _ more: [(name: String, value: String)] = []) -> String {
        Self.query(names.map { ($0, self[$0]) } + more)
    }

    /// A query of these, for a link.
    static func query(_ fields: [(name: String, value: String)]) -> String {
        fields.filter { !$0.value.isEmpty }.map { name, value in
            "\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))"
        }.joined(separator: "&")
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
