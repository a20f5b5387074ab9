/// A list of names that comes in parts, each after the last name of the one before: no name comes twice.
public struct NameListing: Sendable {
    private var names: Set<String> = []
    public private(set) var last = ""
    public private(set) var isMoreComing = true

    public init() {}

    /// - Throws: `circle` for a name that has come before, and for more that brings none.
    public mutating func take(_ part: [String], isMoreComing: Bool) throws(ClientError) {
        for name in part {
            guard names.insert(name).inserted else { throw .circle }
            last = name
        }
        guard !isMoreComing || !part.isEmpty else { throw .circle }
        self.isMoreComing = isMoreComing
    }
}
