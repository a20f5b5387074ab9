/// A cell of a table of comma-separated values (RFC 4180).
package enum SpreadsheetCell {
    /// Quoted where it has to be; a text that a spreadsheet would take for a formula begins with an apostrophe.
    package static func text(_ text: String) -> String {
        var text = text
        if let first = text.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first) { text = "'" + text }
        guard text.unicodeScalars.contains(where: { ",\"\n\r".unicodeScalars.contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    /// One line of the table.
    static func line(_ cells: [String]) -> String { cells.map(text).joined(separator: ",") }
}
