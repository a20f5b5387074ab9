import Foundation
import SealClient
import SealPrimitives
import SealStatements
import SealWire
import Synchronization

/// One way through something that comes in parts (`FeedReading`), which several calls of an app go.
final class FeedReader: Sendable {
    let isWhole: Bool
    let isComplete: Bool
    private let reading: Mutex<FeedReading>

    /// - Parameters:
    ///   - isWhole: it begins at the beginning.
    ///   - isComplete: what came before is known.
    init(isWhole: Bool, isComplete: Bool = true) {
        (self.isWhole, self.isComplete) = (isWhole, isComplete)
        var random = SystemRandom()
        reading = Mutex(FeedReading(isWhole: isWhole, isComplete: isComplete, random: &random))
    }

    /// - Parameter start: where it was asked for; nil for the beginning.
    func part(
        _ records: [some ShownRecord], from start: Data?, to end: Data, isMoreComing: Bool,
        _ kind: FeedReading.Part.Kind = .records
    ) -> FeedReading.Part {
        let items = reading.withLock { reading in records.map { reading.item($0) } }
        return FeedReading.Part(
            items, from: start.map { [UInt8]($0) } ?? [], to: [UInt8](end), isMoreComing: isMoreComing, kind)
    }

    /// - Parameter zones: with a hash of all that is said of each.
    func part(
        zones: [(id: RecordZone.ID, version: Int)], from start: Data?, to end: Data, isMoreComing: Bool
    ) -> FeedReading.Part {
        let items = reading.withLock { reading in
            zones.map { reading.item(named: $0.id.inFeed, version: UInt64(bitPattern: Int64($0.version))) }
        }
        return FeedReading.Part(
            items, from: start.map { [UInt8]($0) } ?? [], to: [UInt8](end), isMoreComing: isMoreComing, .zones)
    }

    /// - Throws: `serverRejectedRequest` for a part that leads nowhere, or that has come before.
    func check(_ part: FeedReading.Part) throws(SealKitError) {
        do throws(ClientError) { try reading.withLock { reading throws(ClientError) in try reading.check(part) } } catch
        {
            throw .circle
        }
    }

    func take(_ part: FeedReading.Part) { reading.withLock { $0.take(part) } }

    func names(beside part: FeedReading.Part) -> FeedReading.Names { reading.withLock { $0.names(beside: part) } }

    var hasBegun: Bool { reading.withLock { $0.hasBegun } }
}

extension RecordZone.ID {
    /// Its name among zones of all owners: neither name has the separator in it.
    var inFeed: String { "\(ownerName)\u{0}\(zoneName)" }
}

extension SealKitError {
    static let circle = SealKitError(
        .serverRejectedRequest,
        "the server says that more is coming, and goes in circles: it gives what it gave before, or nothing",
        remedy: "try again; distrust a server that keeps doing so")
}

/// The readings that apps are in the middle of, each by the place where it goes on. They go with the process.
final class FeedReaders: Sendable {
    private struct UnderWay {
        let feed: String
        let place: [UInt8]
        let reader: FeedReader
    }

    /// As many as an app may read in one request: those that it gave up make room.
    private static let most = Limits.itemsPerRequest
    private let underWay = Mutex<[UnderWay]>([])

    /// The reading that goes on there.
    /// - Parameters:
    ///   - place: nil for the beginning.
    ///   - isWhole: the reading to which the place belongs began at the beginning.
    func reader(of feed: String, at place: Data?, isWhole: Bool) -> FeedReader {
        guard let place else { return FeedReader(isWhole: true) }
        let known = underWay.withLock { all in
            all.last { $0.feed == feed && $0.place.elementsEqual(place) && $0.reader.isWhole == isWhole }?.reader
        }
        return known ?? FeedReader(isWhole: isWhole, isComplete: false)
    }

    /// A part was taken. Whoever reads the same at the same time from another device's or task's place goes on by
    /// itself.
    func take(_ part: FeedReading.Part, _ reader: FeedReader, of feed: String) {
        let hasBegun = reader.hasBegun
        reader.take(part)
        underWay.withLock { all in
            let index = all.firstIndex { $0.reader === reader && $0.place == part.start && $0.feed == feed }
            if let index { all.remove(at: index) }
            guard part.isMoreComing, index != nil || !hasBegun else { return }
            all.append(UnderWay(feed: feed, place: part.end, reader: reader))
            if all.count > FeedReaders.most { all.removeFirst() }
        }
    }
}
