public import SealPrimitives
import SealStatements

/// What was seen, for as long as this value lasts: whoever wants it to outlast that keeps it elsewhere.
public struct MemorySightings: SightingStore {
    private struct Record {
        var seen: SeenStatement
        var noted: Int64
        var met: Int64
        var isBeforeAbsence: Bool
    }

    private var records: [String: Record] = [:]
    private var went: [String: (hash: Digest, noted: Int64)] = [:]
    private var moment: Int64 = 0
    private var marks: [ScopePlace: Int64] = [:]
    /// Late statements that were accepted, oldest first.
    public private(set) var late: [Digest] = []

    public init() {}

    // MARK: What others note

    /// A scope was read without a gap up to an epoch; what was read once stays read.
    public mutating func noteRead(_ place: ScopePlace, upTo epoch: Int64) {
        marks[place] = max(marks[place] ?? epoch, epoch)
    }

    /// This account was out of the scope: of what it met there before, nothing needs to be there still.
    public mutating func noteAbsence(from scope: Digest) {
        for (name, record) in records where record.seen.place.scopeID == scope {
            records[name]?.isBeforeAbsence = true
        }
    }

    // MARK: SightingStore

    public func seen(_ name: String, comparedWith sighting: Sighting?) throws(Never) -> Seen {
        guard let record = records[name] else { return .never }
        if let sighting, record.seen.revision == sighting.revision, record.seen.hash == sighting.hash {
            return .same(isBeforeAbsence: record.isBeforeAbsence)
        }
        return .other(record.seen, isBeforeAbsence: record.isBeforeAbsence)
    }

    public mutating func remember(_ sighting: Sighting, at moment: Int64, onlyNew: Bool) throws(Never) -> Bool {
        let known = records[sighting.recordName]
        guard known == nil || !onlyNew else { return false }
        let isThere = known.map { !$0.isBeforeAbsence } ?? false
        records[sighting.recordName] = Record(
            seen: SeenStatement(sighting.statement, hash: sighting.hash), noted: moment,
            met: isThere ? known?.met ?? moment : moment, isBeforeAbsence: false)
        return true
    }

    public func living(
        metBy moment: Int64?, where isWanted: (String) -> Bool
    ) throws(Never) -> [(name: String, place: ScopePlace?)] {
        var found: [(name: String, place: ScopePlace?)] = []
        for (name, record) in records where record.seen.kind == .save && !record.isBeforeAbsence {
            guard moment.map({ record.met <= $0 }) ?? true, went[name]?.hash != record.seen.hash, isWanted(name) else {
                continue
            }
            found.append((name, ScopePlace(record.seen.place)))
        }
        found.sort { $0.name < $1.name }
        return found
    }

    public func hasAnyGone() throws(Never) -> Bool { !went.isEmpty }

    public func gone(_ name: String) throws(Never) -> Digest? { went[name]?.hash }

    public mutating func noteGone(_ name: String, _ hash: Digest, at moment: Int64) throws(Never) {
        went[name] = (hash, moment)
    }

    public func lastMoment() throws(Never) -> Int64 { moment }

    public mutating func setMoment(_ moment: Int64) throws(Never) { self.moment = moment }

    public func isNoted(_ name: String, after moment: Int64) throws(Never) -> Bool {
        (records[name]?.noted ?? .min) > moment || (went[name]?.noted ?? .min) > moment
    }

    public func caughtUp(in place: ScopePlace) throws(Never) -> Int64? { marks[place] }

    public mutating func noteLate(_ sighting: Sighting) throws(Never) { late.append(sighting.hash) }
}
