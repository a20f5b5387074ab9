/// The pages of one list, as far as they go on: whoever reads it is not led round, nor on for ever.
struct S3Pages {
    private var markers: Set<[String]> = []
    private var entries = 0
    /// Of a list that is read as a whole.
    private let most: Int

    /// Pages without an entry, of which a store may have some.
    private static let mostEmpty = 1_000

    init(most: Int = 1_000_000) { self.most = most }

    /// Throws where the list has been there before, or has come too far.
    /// - Parameters:
    ///   - marker: of the page that follows; not empty.
    ///   - count: how many entries the page before it had.
    mutating func goOn(to marker: [String], behind count: Int) throws(S3Failure) {
        entries += count
        guard !marker.allSatisfy(\.isEmpty), markers.insert(marker).inserted, entries <= most,
            markers.count <= entries + Self.mostEmpty
        else { throw .untrue("a list that does not go on") }
    }
}
