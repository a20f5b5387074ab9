public import SealPrimitives

/// One way through something that comes in parts: every part leads on, nothing comes twice, and at the end it is known
/// what has come. It holds some 20 to 45 bytes for each item, twice that where it began at the beginning.
public struct FeedReading: Sendable {
    /// It began at the beginning.
    public let isWhole: Bool
    /// What came before is known: an app that was started again goes on without that.
    public let isComplete: Bool
    private let hash: ShortHash
    /// Of a whole reading: of others nobody asks what has come. Two names with one hash count as one.
    private var names: Set<UInt64> = []
    private var versions: Set<UInt64> = []
    /// Of lists of zones: the places that were passed, and how many parts in a row brought nothing that had not come.
    private var places: Set<[UInt8]> = []
    private var repeats = 0

    /// So often in a row a zone may come again as it was, each time at a place of its own: somebody has to make and
    /// delete it as often.
    private static let mostRepeats = 16

    /// - Parameter random: of the key of the hashes by which it knows what came: whoever fills a feed foresees none.
    public init(isWhole: Bool, isComplete: Bool = true, random: inout some RandomSource) {
        (self.isWhole, self.isComplete) = (isWhole, isComplete)
        hash = ShortHash(random: &random)
    }

    // MARK: Parts

    /// An item of a part, as it came.
    public struct Item: Sendable {
        let name: UInt64
        let version: UInt64
    }

    /// A record that is there, and the notice that it went, come by one statement: they are two versions of it.
    package func item(_ record: some ShownRecord) -> Item {
        let statement = unsafe record.withStatementBytes { unsafe hash.hash($0) }
        let form: UInt64 = (record.deleted ? 1 : 0) | (record.departed ? 2 : 0)
        return Item(name: hash.hash(record.recordName), version: statement & ~3 | form)
    }

    /// - Parameters:
    ///   - name: of what is listed.
    ///   - version: a hash of all that is said of it, which nobody else foresees.
    public func item(named name: String, version: UInt64) -> Item { Item(name: hash.hash(name), version: version) }

    public struct Part: Sendable {
        let items: [Item]
        /// Where it was asked for; empty for the beginning.
        public let start: [UInt8]
        public let end: [UInt8]
        public let isMoreComing: Bool
        let kind: Kind

        public enum Kind: Sendable {
            case records
            /// Of several zones in one answer: what the zones before have left no room for comes with the next one.
            case recordsBesideOthers
            /// One that has changed since comes again, and may look as it did: its records have changed, or it was made
            /// and deleted again.
            case zones
            /// A part of what was looked through may have nothing that was looked for.
            case results
        }

        public init(
            _ items: [Item], from start: [UInt8], to end: [UInt8], isMoreComing: Bool, _ kind: Kind = .records
        ) {
            (self.items, self.start, self.end, self.isMoreComing, self.kind) = (items, start, end, isMoreComing, kind)
        }

        /// There is more, and this part comes nearer to it.
        fileprivate var leadsOn: Bool {
            if kind == .recordsBesideOthers, items.isEmpty, end == start || start.isEmpty { return true }
            return !end.isEmpty && end != start && (kind == .results || !items.isEmpty)
        }
    }

    private func fresh(in part: Part) -> Int {
        versions.isEmpty ? part.items.count : part.items.count { !versions.contains($0.version) }
    }

    // MARK: Going on

    /// - Throws: `circle` for a part that leads nowhere, or that has come before. Nothing is noted yet: what is asked
    ///   for again after a failure comes again.
    public func check(_ part: Part) throws(ClientError) {
        guard !part.isMoreComing || part.leadsOn else { throw .circle }
        let fresh = fresh(in: part)
        switch part.kind {
        case .zones:
            let mayRepeat = repeats < FeedReading.mostRepeats && !places.contains(part.end)
            guard !part.isMoreComing || fresh > 0 || mayRepeat else { throw .circle }
        case .results: guard fresh == part.items.count else { throw .circle }
        case .records, .recordsBesideOthers:
            guard fresh == part.items.count else { throw .circle }
            var own = Set<UInt64>(minimumCapacity: fresh)
            for item in part.items { guard own.insert(item.version).inserted else { throw .circle } }
        }
    }

    /// A part was taken.
    public mutating func take(_ part: Part) {
        // After the last one nothing comes that could come twice.
        guard isWhole || part.isMoreComing else { return }
        if isWhole { for item in part.items { names.insert(item.name) } }
        guard part.isMoreComing else { return }
        if part.kind == .zones {
            repeats = fresh(in: part) > 0 ? 0 : repeats + 1
            places.insert(part.start)
            places.insert(part.end)
        }
        for item in part.items { versions.insert(item.version) }
    }

    /// What came in the parts that were taken, where it began at the beginning, and in one more.
    public func names(beside part: Part) -> Names {
        Names(hash: hash, taken: names, last: Set(part.items.lazy.map { $0.name }))
    }

    public struct Names: Sendable {
        fileprivate let hash: ShortHash
        fileprivate let taken: Set<UInt64>
        fileprivate let last: Set<UInt64>

        public func contains(_ name: String) -> Bool {
            let hashed = hash.hash(name)
            return last.contains(hashed) || taken.contains(hashed)
        }
    }

    public var hasBegun: Bool { !versions.isEmpty }
}
