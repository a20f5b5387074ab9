public import SealPrimitives
import SealStatements

/// What was seen, for as long as this value lasts; a browser keeps its bytes from one visit to the next (`ZoneMemory`).
public struct MemorySightings: SightingStore, Sendable {
    private struct Record {
        var seen: SeenStatement
        var noted: Int64
        var met: Int64
        var isBeforeAbsence: Bool
        /// The statement with which it went.
        var went: Digest?
    }

    private var records: [String: Record] = [:]
    private var anyGone = false
    private var moment: Int64 = 0
    /// Few.
    private var marks: [(place: ScopePlace, epoch: Int64)] = []
    /// Late statements that were accepted, oldest first.
    public private(set) var late: [Digest] = []

    public init() {}

    // MARK: What others note

    /// A scope was read without a gap up to an epoch; what was read once stays read.
    public mutating func noteRead(_ place: ScopePlace, upTo epoch: Int64) {
        for index in marks.indices where marks[index].place == place {
            marks[index].epoch = max(marks[index].epoch, epoch)
            return
        }
        marks.append((place, epoch))
    }

    /// This account was out of the scope: of what it met there before, nothing needs to be there still.
    public mutating func noteAbsence(from scope: Digest) {
        for (name, record) in records where record.seen.place.scopeID == scope {
            records[name]?.isBeforeAbsence = true
        }
    }

    // MARK: From one visit to the next

    /// So many records are kept, at most.
    public static let mostKept = 20_000

    /// As much of it as is kept: what was kept before stays, so that nobody who writes there crowds it out, and of
    /// what came since the first by name. Of a record that is not kept an older state is not noticed at the next visit.
    public func kept(atMost most: Int = mostKept) -> MemorySightings {
        guard records.count > most else { return self }
        var kept = self
        var left = records.count - most
        for name in names.reversed() where left > 0 && (records[name]?.met ?? 0) > 0 {
            kept.records[name] = nil
            left -= 1
        }
        return kept
    }

    private var names: [String] {
        var names: [String] = []
        for name in records.keys { names.append(name) }
        return names.sorted()
    }

    /// Takes over what was kept, where that is newer.
    /// - Returns: the records of which that was newer, or gone, and those of which another statement with the same
    ///   number was seen: the one that was kept counts.
    public mutating func take(_ kept: MemorySightings) -> (newer: [String], forked: [String]) {
        var (newer, forked): ([String], [String]) = ([], [])
        for (name, theirs) in kept.records {
            guard var mine = records[name], mine.seen.revision >= theirs.seen.revision else {
                records[name] = theirs
                newer.append(name)
                continue
            }
            if mine.seen.revision == theirs.seen.revision {
                if mine.seen.hash == theirs.seen.hash {
                    mine.isBeforeAbsence = mine.isBeforeAbsence && theirs.isBeforeAbsence
                } else {
                    forked.append(name)
                    mine = theirs
                }
            }
            mine.met = 0
            if mine.went == nil, theirs.went != nil {
                mine.went = theirs.went
                newer.append(name)
            }
            records[name] = mine
        }
        anyGone = anyGone || kept.anyGone
        return (newer, forked)
    }

    /// What is kept of a record takes so many bytes at least.
    private static let leastRecordBytes = 73

    /// All but how far scopes were read, which counts for as long as this lasts: a server that has hidden records once
    /// would otherwise bar their honest readers for good (R-SEEN-8, R-SEEN-14).
    public func write(to writer: inout CanonicalWriter) {
        writer.number(UInt32(records.count))
        var last: ScopePlace?
        for name in names {
            guard let record = records[name] else { continue }
            let place = ScopePlace(record.seen.place)
            var flags: UInt8 = record.seen.kind == .delete ? 1 : 0
            if record.isBeforeAbsence { flags |= 2 }
            if record.went != nil { flags |= 4 }
            if place != last { flags |= 8 }
            writer.string(name)
            writer.number(flags)
            if place != last {
                writer.digest(place.scope)
                writer.number(place.incarnation)
            }
            writer.number(record.seen.revision)
            writer.digest(record.seen.hash)
            writer.number(record.seen.rosterSequence)
            writer.string(record.seen.recordType)
            writer.id(record.seen.creator.id)
            if let went = record.went { writer.digest(went) }
            last = place
        }
    }

    /// - Throws: `malformed`, `invalidLength` for anything but what `write` gives.
    public init(from reader: inout CanonicalReader) throws(SealError) {
        var (lastName, last): (String?, ScopePlace?)
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: MemorySightings.leastRecordBytes)) {
            let name = try reader.string(atMost: Limits.nameBytes)
            if let lastName, lastName >= name { throw .malformed }
            let flags = try reader.byte()
            guard flags < 16 else { throw .malformed }
            if flags & 8 != 0 {
                let place = ScopePlace(try reader.digest(), try reader.number())
                guard place != last else { throw .malformed }
                last = place
            }
            guard let place = last else { throw .malformed }
            let revision: UInt64 = try reader.number()
            let hash = try reader.digest()
            let rosterSequence: UInt64 = try reader.number()
            let type = try reader.string(atMost: Limits.nameBytes)
            let creator = UserID(try reader.id())
            let seen = SeenStatement(
                kind: flags & 1 == 0 ? .save : .delete, recordType: type, creator: creator, revision: revision,
                hash: hash, place: Statement.FormerScope(scopeID: place.scope, incarnation: place.incarnation),
                rosterSequence: rosterSequence)
            let went = flags & 4 == 0 ? nil : try reader.digest()
            anyGone = anyGone || went != nil
            records[name] = Record(
                seen: seen, noted: 0, met: 0, isBeforeAbsence: flags & 2 != 0, went: went)
            lastName = name
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
            met: isThere ? known?.met ?? moment : moment, isBeforeAbsence: false, went: known?.went)
        return true
    }

    public func living(
        metBy moment: Int64?, where isWanted: (String) -> Bool
    ) throws(Never) -> [(name: String, place: ScopePlace?)] {
        var found: [(name: String, place: ScopePlace?)] = []
        for name in names {
            guard let record = records[name], record.seen.kind == .save, !record.isBeforeAbsence,
                moment.map({ record.met <= $0 }) ?? true, record.went != record.seen.hash, isWanted(name)
            else { continue }
            found.append((name, ScopePlace(record.seen.place)))
        }
        return found
    }

    public func hasAnyGone() throws(Never) -> Bool { anyGone }

    public func gone(_ name: String) throws(Never) -> Digest? { records[name]?.went }

    /// Of a record that was seen.
    public mutating func noteGone(_ name: String, _ hash: Digest, at moment: Int64) throws(Never) {
        records[name]?.went = hash
        records[name]?.noted = moment
        anyGone = true
    }

    public func lastMoment() throws(Never) -> Int64 { moment }

    public mutating func setMoment(_ moment: Int64) throws(Never) { self.moment = moment }

    public func isNoted(_ name: String, after moment: Int64) throws(Never) -> Bool {
        (records[name]?.noted ?? .min) > moment
    }

    public func caughtUp(in place: ScopePlace) throws(Never) -> Int64? {
        for mark in marks where mark.place == place { return mark.epoch }
        return nil
    }

    public mutating func noteLate(_ sighting: Sighting) throws(Never) { late.append(sighting.hash) }
}
