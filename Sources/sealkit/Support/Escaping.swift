extension String {
    /// For printing what other people wrote: control characters, terminal sequences and direction overrides become
    /// visible escapes, so that a title cannot move the cursor, recolour the screen or read backwards.
    var escaped: String {
        var out = ""
        out.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": out += "\\n"
            case "\t": out += "\\t"
            case "\r": out += "\\r"
            case "\\": out += "\\\\"
            default:
                if scalar.isUnprintable {
                    out += "\\u{\(String(scalar.value, radix: 16))}"
                } else {
                    out.unicodeScalars.append(scalar)
                }
            }
        }
        return out
    }

    /// As `escaped`, with backslashes as they are: for what is there to be copied, as a command that is advised.
    var escapedToCopy: String { escaped.replacing(#"\\"#, with: #"\"#) }

    /// As a shell reads one word.
    var inShell: String {
        !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-/".contains($0)) }
            ? self : "'\(replacing("'", with: #"'\''"#))'"
    }

    /// As a shell, and then a command, read one argument that is no option: it stands last.
    var argumentInShell: String { hasPrefix("-") ? "-- \(inShell)" : inShell }

    func padded(to width: Int) -> String {
        count >= width ? self + " " : self + String(repeating: " ", count: width - count)
    }

    /// Cut for a line of a list.
    func shortened(to width: Int) -> String { count <= width ? self : prefix(width - 1) + "…" }
}

extension Unicode.Scalar {
    /// Controls (C0, DEL, C1), invisible format characters and direction overrides, line and paragraph separators.
    var isUnprintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
