/// What a database says of itself, a line of text a name.
extension SQLConnection {
    package func setting(_ name: String) throws -> String? {
        try first("SELECT value FROM settings WHERE name = $1", [.text(name)]) { try $0.text("value") }
    }

    /// - Parameter value: nil takes it away.
    package func change(setting name: String, to value: String?) throws {
        guard let value else {
            try execute("DELETE FROM settings WHERE name = $1", [.text(name)])
            return
        }
        try execute(
            "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [.text(name), .text(value)])
    }
}
