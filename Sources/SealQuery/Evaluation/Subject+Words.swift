extension Query.Subject {
    /// The words of all searchable texts: read anew each time, unless they are kept.
    public var words: Set<String> { keptWords ?? readWords() }

    /// For a record that is compared with many predicates. The fields stay as they are from here on.
    public mutating func keepWords() {
        if keptWords == nil { keptWords = readWords() }
    }

    private func readWords() -> Set<String> {
        var words: Set<String> = []
        for (key, value) in fields where searchableFields?.contains(key) ?? true {
            words.formUnion(knownWords[key] ?? Words.of(value))
        }
        return words
    }

    /// Whether it has any of a text's words, or all of them; a text without words is in no record.
    func hasWords(of text: String, all: Bool) -> Bool {
        let wanted = Words.of(text)
        guard !wanted.isEmpty else { return false }
        return all ? wanted.isSubset(of: words) : !wanted.isDisjoint(with: words)
    }
}
