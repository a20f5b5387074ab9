/// A cell of a table of comma-separated values (RFC 4180).
package enum SpreadsheetCell {
    /// Quoted where it has to be; a text that a spreadsheet would take for a formula begins with an apostrophe. So does
    /// what follows a character by which some part cells or lines, whatever the commas and quotes around them say.
    package static func text(_ text: String) -> String {
        let text = guarded(text)
        guard text.unicodeScalars.contains(where: { ",\"\n\r".unicodeScalars.contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    private static func guarded(_ text: String) -> String {
        var guarded = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        var isStart = true
        while let next = rest.first {
            // Quotes at the start of a cell are taken off before it is looked at.
            if isStart, let first = rest.first(where: { $0 != "\"" }), "=+-@\t\r".unicodeScalars.contains(first) {
                guarded.append("'")
            }
            guarded.append(next)
            rest.removeFirst()
            isStart = ";\t\n\r".unicodeScalars.contains(next)
        }
        return String(guarded)
    }

    /// One line of the table.
    static func line(_ cells: [String]) -> String { cells.map(text).joined(separator: ",") }
}
