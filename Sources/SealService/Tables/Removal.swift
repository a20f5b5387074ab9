/// How some rows of a table are taken away at once.
enum Removal: Sendable {
    case byKey
    /// As many as there is room for: a page each has to be given back for what they hold.
    /// - Parameters:
    ///   - column: that may be large.
    ///   - name: what a zone's rows are told by, a text.
    case bySize(of: String, inOrderOf: String)
    /// With their words in the full-text index, which has to be told them.
    case withWords
    /// With their files, which are left to the collection of garbage.
    case withFiles
}
