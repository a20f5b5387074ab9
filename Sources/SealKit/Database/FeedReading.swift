import Foundation
import SealStatements
import SealWire
import Synchronization

/// One way through something that comes in parts: every part leads on, nothing comes twice, and at the end it is known
/// what has come. It holds some 20 to 45 bytes for each item, twice that where it began at the beginning.
final class FeedReading: Sendable {
    /// An item of a part, as it came.
    struct Item: Sendable {
        let name: Int
        let version: Int

        init(_ record: Sealkit_V1_Record) {
            name = record.recordName.hashValue
            var hasher = Hasher()
            // All of it: a `Data` is hashed by its beginning alone, which statements of one zone have in common.
            record.statement.withUnsafeBytes { hasher.combine(bytes: $0) }
            // A record that is there, and the notice that it went, come by one statement.
            hasher.combine(record.deleted)
            hasher.combine(record.departed)
            version = hasher.finalize()
        }

        init(_ zone: RecordZone.ID, version: Int) { (name, self.version) = (zone.hashValue, version) }
    }

    struct Part: Sendable {
        let items: [Item]
        /// Where it was asked for; empty for the beginning.
        let start: Data
        let end: Data
        let isMoreComing: Bool
        var kind = Kind.records

        enum Kind: Sendable {
            case records
            /// Of several zones in one answer: what the zones before have left no room for comes with the next one.
            case recordsBesideOthers
            /// One that has changed since comes again, and may look as it did: its records have changed, or it was made
            /// and deleted again.
            case zones
            /// A part of what was looked through may have nothing that was looked for.
            case results
        }

        init(_ items: [Item], from start: Data?, to end: Data, isMoreComing: Bool, _ kind: Kind = .records) {
            self.items = items
            self.start = start ?? Data()
            self.end = end
            self.isMoreComing = isMoreComing
            self.kind = kind
        }

        var names: Set<Int> { Set(items.lazy.map(\.name)) }

        /// There is more, and this part comes nearer to it.
        fileprivate var leadsOn: Bool {
            if kind == .recordsBesideOthers, items.isEmpty, end == start || start.isEmpty { return true }
            return !end.isEmpty && end != start && (kind == .results || !items.isEmpty)
        }
    }

    private struct State {
        /// Of a whole reading: of others nobody asks what has come. Two names with one hash count as one.
        var names: Set<Int> = []
        var versions: Set<Int> = []
        /// Of lists of zones: the places that were passed, and how many parts in a row brought nothing that had not
        /// come.
        var places: Set<Data> = []
        var repeats = 0

        func fresh(in part: Part) -> Int {
            versions.isEmpty ? part.items.count : part.items.count { !versions.contains($0.version) }
        }
    }

    /// So often in a row a zone may come again as it was, each time at a place of its own: somebody has to make and
    /// delete it as often.
    private static let mostRepeats = 16

    /// It began at the beginning.
    let isWhole: Bool
    /// What came before is known: an app that was started again goes on without that.
    let isComplete: Bool
    private let state = Mutex(State())

    init(isWhole: Bool, isComplete: Bool = true) { (self.isWhole, self.isComplete) = (isWhole, isComplete) }

    /// - Throws: `serverRejectedRequest` for a part that leads nowhere, or that has come before. Nothing is noted yet:
    ///   what is asked for again after a failure comes again.
    func check(_ part: Part) throws(SealKitError) {
        guard !part.isMoreComing || part.leadsOn else { throw FeedReading.circle }
        let (fresh, mayRepeat) = state.withLock { state in
            (state.fresh(in: part), state.repeats < FeedReading.mostRepeats && !state.places.contains(part.end))
        }
        switch part.kind {
        case .zones: guard !part.isMoreComing || fresh > 0 || mayRepeat else { throw FeedReading.circle }
        case .results: guard fresh == part.items.count else { throw FeedReading.circle }
        case .records, .recordsBesideOthers:
            guard fresh == part.items.count else { throw FeedReading.circle }
            var own = Set<Int>(minimumCapacity: fresh)
            guard part.items.allSatisfy({ own.insert($0.version).inserted }) else { throw FeedReading.circle }
        }
    }

    func take(_ part: Part) {
        // After the last one nothing comes that could come twice.
        guard isWhole || part.isMoreComing else { return }
        state.withLock { state in
            if isWhole { state.names.formUnion(part.items.lazy.map(\.name)) }
            if part.isMoreComing, part.kind == .zones {
                state.repeats = state.fresh(in: part) > 0 ? 0 : state.repeats + 1
                state.places.formUnion([part.start, part.end])
            }
            if part.isMoreComing { state.versions.formUnion(part.items.lazy.map(\.version)) }
        }
    }

    func has(_ name: Int) -> Bool { state.withLock { $0.names.contains(name) } }
    var hasBegun: Bool { state.withLock { !$0.versions.isEmpty } }

    static let circle = SealKitError(
        .serverRejectedRequest,
        "the server says that more is coming, and goes in circles: it gives what it gave before, or nothing",
        remedy: "try again; distrust a server that keeps doing so")
}

/// The readings that apps are in the middle of, each by the place where it goes on. They go with the process.
final class FeedReadings: Sendable {
    private struct UnderWay {
        let feed: String
        let place: Data
        let reading: FeedReading
    }

    /// As many as an app may read in one request: those that it gave up make room.
    private static let most = Limits.itemsPerRequest
    private let underWay = Mutex<[UnderWay]>([])

    /// The reading that goes on there.
    /// - Parameters:
    ///   - place: nil for the beginning.
    ///   - isWhole: the reading to which the place belongs began at the beginning.
    func reading(of feed: String, at place: Data?, isWhole: Bool) -> FeedReading {
        guard let place else { return FeedReading(isWhole: true) }
        let known = underWay.withLock { all in
            all.last { $0.feed == feed && $0.place == place && $0.reading.isWhole == isWhole }?.reading
        }
        return known ?? FeedReading(isWhole: isWhole, isComplete: false)
    }

    /// A part was taken. Whoever reads the same at the same time from another device's or task's place goes on by
    /// itself.
    func take(_ part: FeedReading.Part, _ reading: FeedReading, of feed: String) {
        let hasBegun = reading.hasBegun
        reading.take(part)
        underWay.withLock { all in
            let index = all.firstIndex { $0.reading === reading && $0.place == part.start && $0.feed == feed }
            if let index { all.remove(at: index) }
            guard part.isMoreComing, index != nil || !hasBegun else { return }
            all.append(UnderWay(feed: feed, place: part.end, reading: reading))
            if all.count > FeedReadings.most { all.removeFirst() }
        }
    }
}
