import Yams

extension SettingsFile {
    /// Where a key is for the second time that one mapping has twice. The parser tells the place of the first alone, so
    /// that one is given another name, and the text is read again.
    struct Repetition {
        let name: [String]
        let line: Int

        /// More keys than these are not told apart.
        private static let mostRenamed = 100
        /// A character that no setting has.
        private static let marker: Unicode.Scalar = "\u{E000}"

        /// Nil where the parser's error is another one.
        init?(_ error: any Error, in text: String) {
            guard case .duplicatedKeysInMapping(let names, let context)? = error as? YamlError, let name = names.first
            else { return nil }
            var (text, mark) = (text, context.mark)
            for _ in 0..<Self.mostRenamed {
                guard let renamed = Self.rename(mark, in: text) else { return nil }
                text = renamed
                do {
                    guard let root = try Parser(yaml: text).singleRoot() else { return nil }
                    guard let found = Self.second(name, after: context.mark, in: root, below: []) else { return nil }
                    self = found
                    return
                } catch {
                    guard case .duplicatedKeysInMapping(_, let next)? = error as? YamlError else { return nil }
                    mark = next.mark
                }
            }
            return nil
        }

        private init(name: [String], line: Int) { (self.name, self.line) = (name, line) }

        private static func rename(_ mark: Mark, in text: String) -> String? {
            var scalars = text.unicodeScalars
            var (line, column, index) = (1, 1, scalars.startIndex)
            while line < mark.line || column < mark.column {
                guard line <= mark.line, index < scalars.endIndex else { return nil }
                if scalars[index] == "\n" { (line, column) = (line + 1, 1) } else { column += 1 }
                index = scalars.index(after: index)
            }
            guard line == mark.line, index < scalars.endIndex else { return nil }
            if scalars[index] == "\"" || scalars[index] == "'" { index = scalars.index(after: index) }
            scalars.insert(marker, at: index)
            return String(scalars)
        }

        private static func second(_ name: String, after first: Mark, in node: Node, below prefix: [String])
            -> Repetition?
        {
            guard let mapping = node.mapping else { return nil }
            func plain(_ key: Node) -> String {
                String(String.UnicodeScalarView((key.scalar?.string ?? "").unicodeScalars.drop { $0 == marker }))
            }
            var isBehind = false
            for (key, value) in mapping {
                let path = prefix + plain(key).split(separator: ".", omittingEmptySubsequences: false).map(String.init)
                if isBehind, plain(key) == name, let line = key.mark?.line { return Repetition(name: path, line: line) }
                if key.mark?.line == first.line, key.mark?.column == first.column { isBehind = true }
                if let found = second(name, after: first, in: value, below: path) { return found }
            }
            return nil
        }
    }
}
