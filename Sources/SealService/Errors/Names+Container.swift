package import SealStatements
import SealWire

extension Names {
    /// - Throws: `badContainer`.
    package static func requireContainer(_ name: String) throws(ServerError) -> String {
        guard isContainer(name) else {
            throw ServerError(
                .badContainer, "A container's name has 1 to 255 letters, digits, dots and hyphens.",
                remedy: "Use a name like com.example.notes.")
        }
        return name
    }
}
