import SealWire

/// The words of a message in one language. `{code}` and `{origin}` stand for what is known only when it is sent.
package struct MessageTexts: Sendable {
    package let subject: String
    /// Above the code.
    let lead: String
    let validity: String
    package let warning: String
    let ignore: String
    /// All of a text message; the code is in front, where a phone offers it.
    package let phone: String

    /// What is written to somebody whose language is not here.
    static let fallback = "en"

    package static func of(_ language: String) -> MessageTexts { all[language] ?? english }

    /// Which of the languages suits a request best.
    ///
    /// - Parameters:
    ///   - tag: what the request says, BCP 47: `de`, `pt-BR`. It counts by its first part.
    ///   - acceptLanguage: the HTTP header, where the request itself says nothing.
    /// - Throws: `invalidArguments` for a tag that is none.
    package static func language(_ tag: String, acceptLanguage: String?) throws(ServerError) -> String {
        guard tag.isEmpty else {
            guard isTag(tag) else {
                throw ServerError(
                    .invalidArguments, "The language is not a language tag.",
                    remedy: "Send one as in BCP 47, like de or pt-BR, or none.")
            }
            return known(tag) ?? fallback
        }
        // Of what a browser says, as much as anybody means.
        let wishes = (acceptLanguage ?? "").split(separator: ",").prefix(16).enumerated().map { place, wish in
            let parts = wish.split(separator: ";", maxSplits: 1).map { $0.filter { $0 != " " } }
            let weight = parts.count == 2 && parts[1].hasPrefix("q=") ? Double(parts[1].dropFirst(2)) ?? 0 : 1
            return (tag: parts.first ?? "", weight: weight, place: place)
        }
        return wishes.filter { $0.weight > 0 }.sorted { ($1.weight, $0.place) < ($0.weight, $1.place) }
            .lazy.compactMap { known($0.tag) }.first ?? fallback
    }

    private static func known(_ tag: String) -> String? {
        let first = tag.split(separator: "-").first.map { $0.lowercased() } ?? ""
        return all[first] == nil ? nil : first
    }

    private static func isTag(_ tag: String) -> Bool {
        tag.utf8.count <= 35
            && tag.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { part in
                (1...8).contains(part.utf8.count)
                    && part.utf8.allSatisfy {
                        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                    }
            }
    }
}
