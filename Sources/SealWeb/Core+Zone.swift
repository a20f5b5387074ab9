import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// A share's records, read and opened.
extension Core {
    /// What a URL leads to, an identity → the handle of the share's zone, as far as it was verified before.
    mutating func enter(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (visit, own) = try core { () throws(SealError) in
            (try openings[try reader.number()], try identities[try reader.number()])
        }
        let zone = try SharedZone(
            visit.opening.roster.scope, as: own,
            entries: visit.opening.entries + (visit.acceptance.map { [$0] } ?? []), random: &random)
        writer.number(zones.insert(zone, &last))
    }

    /// An identity, container, environment, owner, zone and share of a place where the visitor was before → its handle.
    mutating func comeBack(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (own, scope) = try core { () throws(SealError) -> (VisitorIdentity, Scope) in
            let own = try identities[try reader.number()]
            let container = try reader.string(atMost: Limits.nameBytes)
            guard let environment = Environment(name: try reader.string(atMost: 16)) else { throw .malformed }
            return (
                own,
                Scope(
                    container: container, environment: environment,
                    owner: try UserID(recordName: try reader.string(atMost: Limits.nameBytes)),
                    zoneName: try reader.string(atMost: Limits.nameBytes),
                    shareRecordName: try reader.string(atMost: Limits.nameBytes))
            )
        }
        writer.number(zones.insert(try SharedZone(scope, as: own, entries: [], random: &random), &last))
    }

    /// A visitor, a zone, whether it is but looked at and all of its share's roster is there, what this browser keeps
    /// of it (nothing where that is not there) → whether it was there, and what is to be kept in its place, where that
    /// is another. What is but looked at leaves nothing.
    /// - Throws: `memoryDamaged` for what does not open; `keysReplaced` where it was kept by a newer key.
    mutating func remember(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (visitor, zone, isPreview, kept) = try core {
            () throws(SealError) -> (Visitor, SharedZone, Bool, [UInt8]) in
            (
                try visitors[try reader.number()], try zones[try reader.number()], try reader.flag(),
                try reader.blob(atMost: reader.remaining)
            )
        }
        // An account that goes with the tab leaves nothing.
        guard visitor.isKept else {
            writer.flag(false)
            writer.blob([])
            return
        }
        // Most looks bring nothing, and no other tab was here.
        if !kept.isEmpty, [UInt8](kept.prefix(AEAD.nonceBytes)) == zone.keptAs {
            writer.flag(true)
            writer.blob([])
            return
        }
        let (zoneID, seeds) = (zone.zone.id, visitor.keys.seeds)
        var known: [UInt8] = []
        if !kept.isEmpty {
            let memory: ZoneMemory
            do throws(SealError) {
                known = try ZoneMemory.open(kept, of: zoneID, by: seeds)
                memory = try ZoneMemory(canonicalBytes: known)
            } catch { throw Refusal(error == .missingKey ? "keysReplaced" : "memoryDamaged") }
            try zone.recall(memory, isWhole: isPreview)
        }
        let memory = zone.memory.canonicalBytes()
        writer.flag(!kept.isEmpty)
        guard !isPreview else {
            writer.blob([])
            return
        }
        let sealed =
            memory == known
            ? kept
            : try core { () throws(SealError) in
                try ZoneMemory.seal(memory, of: zoneID, by: seeds, random: &random)
            }
        zone.keptAs = [UInt8](sealed.prefix(AEAD.nonceBytes))
        writer.blob(memory == known ? [] : sealed)
    }

    /// A zone → whether rosters are to be asked for, and the request.
    func rosterRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let request = try zones[try reader.number()].rosterRequest()
        writer.flag(request != nil)
        writer.blob(request?.protobuf() ?? [])
    }

    /// A zone, the answer → nothing.
    func rosterAnswer(_ reader: inout CanonicalReader) throws(Refusal) {
        let (handle, answer) = try core { () throws(SealError) -> (UInt32, Wire.FetchRostersResponse) in
            (
                try reader.number(),
                try Wire.FetchRostersResponse(protobuf: try reader.blob(atMost: reader.remaining))
            )
        }
        try core { () throws(SealError) in try zones[handle] }.take(answer)
    }

    /// A zone → nothing: it is asked for from the beginning.
    mutating func startOver(_ reader: inout CanonicalReader) throws(SealError) {
        try zones[try reader.number()].startOver(random: &random)
    }

    /// A zone → the request for what has changed in it since.
    func changesRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        writer.blob(try zones[try reader.number()].changesRequest().protobuf())
    }

    /// A zone, the answer → 0: rosters are to be asked for, and the answer is given again; 1: there is more to ask for;
    /// 2: that is all; 3: records are to be asked for by name. Then how many records there are to show, whether the
    /// visitor may write, and whether something has come since the first of them were read.
    mutating func changesAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (handle, answer) = try core { () throws(SealError) -> (UInt32, Wire.RecordChangesResponse) in
            (
                try reader.number(),
                try Wire.RecordChangesResponse(protobuf: try reader.blob(atMost: reader.remaining))
            )
        }
        let zone = try core { () throws(SealError) in try zones[handle] }
        write(try zone.take(answer, random: &random), of: zone, &writer)
    }

    /// A zone → the request for what its feed should have brought.
    func lookupRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        writer.blob(try zones[try reader.number()].lookupRequest().protobuf())
    }

    /// A zone, the answer → as of `changesAnswer`.
    func lookupAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, answer) = try core { () throws(SealError) -> (SharedZone, Wire.LookupRecordsResponse) in
            (
                try zones[try reader.number()],
                try Wire.LookupRecordsResponse(protobuf: try reader.blob(atMost: reader.remaining))
            )
        }
        write(try zone.take(answer), of: zone, &writer)
    }

    private func write(_ course: SharedZone.Course, of zone: SharedZone, _ writer: inout CanonicalWriter) {
        writer.number(course.rawValue)
        writer.number(UInt32(zone.names.count))
        writer.flag(zone.mayWrite)
        writer.flag(zone.hasNews)
    }

    /// A zone, which of its records, how many → of each: name, why it is not believed (nothing where it is), type,
    /// author, when it was changed, and its fields: name; 0 for a value that the server sees, 1 for a sealed one, 2 for
    /// an asset, 3 for what did not come; then the value's canonical bytes, or an asset's size.
    func records(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let zone = try zones[try reader.number()]
        let first = Int(clamping: try reader.number(UInt32.self))
        let count = Int(clamping: try reader.number(UInt32.self))
        if first == 0 { (zone.hasNews, zone.changed) = (false, []) }
        let names = zone.names.dropFirst(first).prefix(count)
        writer.number(UInt32(names.count))
        for name in names { write(name, of: zone, &writer) }
    }

    /// A zone whose records the visitor was shown → of each that is to be shown now whether it may be another one than
    /// was shown, and as of `records` what it is, or its name.
    func news(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let zone = try zones[try reader.number()]
        let changed = zone.changed
        (zone.hasNews, zone.changed) = (false, [])
        writer.number(UInt32(zone.names.count))
        for name in zone.names {
            let isChanged = changed?.contains(name) ?? true
            writer.flag(isChanged)
            if isChanged { write(name, of: zone, &writer) } else { writer.string(name) }
        }
    }

    /// A zone, the name of a record → whether it is to be shown, and as of `records` what.
    func record(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let zone = try zones[try reader.number()]
        let name = try reader.string(atMost: Limits.nameBytes)
        let isThere = zone.names.contains(name)
        writer.flag(isThere)
        if isThere { write(name, of: zone, &writer) }
    }

    func write(_ name: String, of zone: SharedZone, _ writer: inout CanonicalWriter) {
        writer.string(name)
        guard let shown = zone.shown(name) else {
            writer.string(zone.disbelief(of: name)?.name ?? "unknownItem")
            writeNothing(&writer)
            return
        }
        var fields: [(String, ReadField)] = []
        do throws(SealError) {
            try zone.open(shown) { fields.append(($0, $1)) }
        } catch {
            writer.string(error.rawValue)
            writeNothing(&writer)
            return
        }
        writer.string("")
        writer.string(shown.read.statement.recordType)
        writer.string(shown.read.statement.author.recordName)
        writer.number(shown.modified)
        writer.number(UInt32(fields.count))
        for (name, field) in fields {
            writer.string(name)
            switch field {
            case .plain(let value): write(value, as: 0, &writer)
            case .encrypted(let value): write(value, as: 1, &writer)
            case .asset(let asset, _):
                writer.number(UInt8(2))
                writer.number(asset.size)
            case .publicAsset, .omitted: writer.number(UInt8(3))
            }
        }
    }

    /// A value that has no canonical form cannot have come: what it was read from has one.
    func write(_ value: Value, as kind: UInt8, _ writer: inout CanonicalWriter) {
        guard let bytes = try? value.canonicalBytes() else {
            writer.number(UInt8(3))
            return
        }
        writer.number(kind)
        writer.blob(bytes)
    }

    private func writeNothing(_ writer: inout CanonicalWriter) {
        writer.string("")
        writer.string("")
        writer.number(Int64(0))
        writer.number(UInt32(0))
    }

    // MARK: Leaving

    /// A zone → nothing: its share's roster is to be asked for anew (`rosterRequest`).
    func shareRefresh(_ reader: inout CanonicalReader) throws(Refusal) {
        let zone = try core { () throws(SealError) in try zones[try reader.number()] }
        try zone.refresh(zone.scope.id)
    }

    /// A zone, time → whether the visitor is in its share, and the request by which it leaves.
    mutating func leaveRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, time) = try core { () throws(SealError) -> (SharedZone, Int64) in
            (try zones[try reader.number()], try reader.number())
        }
        let entry = try zone.leaving(at: time)
        writer.flag(entry != nil)
        guard let entry else { return }
        writer.blob(appendRequest(entry, to: zone).protobuf())
    }

    /// What appends an entry to the roster of a zone's share.
    mutating func appendRequest(_ entry: SignedRosterEntry, to zone: SharedZone) -> Wire.AppendRosterRequest {
        var request = Wire.AppendRosterRequest()
        request.operationID = ID16(random: &random).bytes
        request.zone = zone.zoneID
        request.shareRecordName = zone.scope.shareRecordName
        request.entry = Wire.SignedEntry(entry)
        return request
    }
}
