/// Puts texts and values together. Values are escaped for where they go, and never looked into for placeholders.
enum MessageTemplate {
    static func plain(_ texts: MessageTexts, _ values: [String: String]) -> String {
        """
        \(fill(texts.lead, values))

            \(values["code"] ?? "")

        \(fill(texts.validity, values))

        \(fill(texts.warning, values))
        \(fill(texts.ignore, values))
        """
    }

    /// No link, no picture, nothing to fetch: a mail that asks for nothing cannot be told from a forged one by what it
    /// loads.
    static func html(_ texts: MessageTexts, _ values: [String: String], language: String) -> String {
        let escaped = values.mapValues(HTML.escape)
        func text(_ template: String) -> String { fill(HTML.escape(template), escaped) }
        return """
            <!DOCTYPE html>
            <html lang="\(HTML.escape(language))">
            <head><meta charset="utf-8"><title>\(HTML.escape(texts.subject))</title></head>
            <body style="font: 16px/1.5 sans-serif; max-width: 34em; margin: 2em auto; padding: 0 1em">
            <p>\(text(texts.lead))</p>
            <p style="font: 28px/1.2 monospace; letter-spacing: 0.1em">\(escaped["code"] ?? "")</p>
            <p>\(text(texts.validity))</p>
            <p>\(text(texts.warning))<br>
            \(text(texts.ignore))</p>
            </body>
            </html>
            """
    }

    /// Replaces `{name}` once, from left to right; what no value has the name of stays.
    static func fill(_ template: String, _ values: [String: String]) -> String {
        var result = ""
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            result += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            result += values[name] ?? String(rest[open...close])
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }
}
