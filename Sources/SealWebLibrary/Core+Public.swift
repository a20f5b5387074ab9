import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// A container's public database: records by name and by query, and one at a time changed, made or deleted.
extension Core {
    /// A container, an environment → the handle of its public database.
    mutating func publicZone(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let zone = try core { () throws(SealError) -> PublicZone in
            let container = try reader.string(atMost: Limits.nameBytes)
            guard let environment = Environment(name: try reader.string(atMost: 16)) else { throw .malformed }
            return PublicZone(container: container, environment: environment)
        }
        writer.number(publicZones.insert(zone, &last))
    }

    /// A public database → the moment that goes with what is asked next, to its answer.
    func publicMoment(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        writer.number(try core { () throws(SealError) in try publicZones[try reader.number()].moment })
    }

    /// A public database, the moment at which it was asked, the names that were asked for, the answer → of each why it
    /// is not there or not believed, or nothing.
    func publicLookupAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, moment, names, answer, bytes) = try core {
            () throws(SealError) -> (PublicZone, Int64, [String], Wire.LookupRecordsResponse, Int) in
            let (zone, moment) = (try publicZones[try reader.number()], try reader.number(Int64.self))
            var names: [String] = []
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 4)) {
                names.append(try reader.string(atMost: Limits.nameBytes))
            }
            let bytes = try reader.blob(atMost: reader.remaining)
            return (zone, moment, names, try Wire.LookupRecordsResponse(protobuf: bytes), bytes.count)
        }
        guard answer.results.count == names.count else { throw Refusal("unexpected") }
        var (records, shown): ([Wire.Record], [String]) = ([], [])
        for (result, name) in zip(answer.results, names) {
            // Of one that is gone the failure has what shows that.
            guard let record = result.shown else { continue }
            records.append(record)
            shown.append(name)
        }
        var outcomes = try zone.take(records, by: answer.authors, named: shown, asked: moment, bytes: bytes)
            .makeIterator()
        writer.number(UInt32(names.count))
        for (result, name) in zip(answer.results, names) {
            let refusal: Refusal?
            switch result.shown == nil ? nil : outcomes.next() {
            case .refused(let reason): refusal = reason
            case .read, .overtaken: refusal = zone.refusalToShow(name)
            case nil: refusal = zone.refusal(of: name, said: result.failureCode, asked: moment)
            }
            writer.string(refusal?.name ?? "")
        }
    }

    /// A public database, the moment at which it was asked, where the page begins, or nothing, the query that was asked
    /// (`Query.init`), the answer → where the next page begins, or nothing; of each record its name, and why it is not
    /// believed, or nothing: also what is given twice, in another order, or not asked for, over all pages. Of what was
    /// written meanwhile that which is a result no more is left out.
    mutating func publicQueryAnswer(
        _ reader: inout CanonicalReader, _ writer: inout CanonicalWriter
    ) throws(Refusal) {
        let (zone, moment, marker) = try core {
            () throws(SealError) -> (PublicZone, Int64, [UInt8]) in
            let (zone, moment) = (try publicZones[try reader.number()], try reader.number(Int64.self))
            return (zone, moment, try reader.blob(atMost: reader.remaining))
        }
        let (query, answer, bytes) = try core {
            () throws(SealError) -> (Query, Wire.QueryRecordsResponse, Int) in
            let query = try Query(&reader)
            let bytes = try reader.blob(atMost: reader.remaining)
            return (query, try Wire.QueryRecordsResponse(protobuf: bytes), bytes.count)
        }
        guard answer.matches.count <= Limits.itemsPerRequest else { throw Refusal("endless") }
        var records: [Wire.Record] = []
        for match in answer.matches {
            guard let record = match.record else { throw Refusal("unexpected") }
            records.append(record)
        }
        var check = zone.check(at: marker, random: &random)
        let page = try check.page(records, from: marker, to: answer.cursor)
        let outcomes = try zone.take(records, by: answer.authors, named: nil, asked: moment, bytes: bytes)
        var told: [(name: String, refusal: String)] = []
        for (record, outcome) in zip(records, outcomes) {
            let name = record.recordName
            switch outcome {
            case .refused(let refusal): told.append((name, refusal.name))
            case .read: told.append((name, check.takes(zone.shown(name), of: query) ? "" : "unexpected"))
            case .overtaken:
                if let refusal = check.refusalOfNewer(zone.shown(name), of: query) { told.append((name, refusal)) }
            }
        }
        check.take(page)
        zone.keep(check, at: answer.cursor)
        writer.blob(answer.cursor)
        writer.number(UInt32(told.count))
        for (name, refusal) in told {
            writer.string(name)
            writer.string(refusal)
        }
    }

    /// A public database, the name of a record that was read → its change tag, and the record, as `records` shows one.
    func publicRecord(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, name) = try core { () throws(SealError) in
            (try publicZones[try reader.number()], try reader.string(atMost: Limits.nameBytes))
        }
        let (shown, fields) = try zone.there(name)
        writer.string(shown.changeTag)
        writer.string(name)
        writer.string("")
        writer.string(shown.statement.recordType)
        writer.string(shown.statement.author.recordName)
        writer.number(shown.modified)
        writer.number(UInt32(fields.count))
        for (name, field) in fields {
            writer.string(name)
            switch field {
            case .plain(let value): write(value, as: 0, &writer)
            case .publicAsset(let asset, _):
                writer.number(UInt8(2))
                writer.number(asset.size)
            case .encrypted, .asset, .omitted: writer.number(UInt8(3))
            }
        }
    }

    /// A public database, an identity, a record's name, which is drawn where it is none; whether it is to be deleted;
    /// the type of one that is to be made, or nothing; what becomes of its fields (as of `saveRequest`, a file by
    /// its upload), time → its name, and the request.
    mutating func publicRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let zone = try core { () throws(SealError) in try publicZones[try reader.number()] }
        let own = try core { () throws(SealError) in try identities[try reader.number()].own }
        var name = ""
        var (isDeletion, type, time) = (false, "", Int64(0))
        var changes: [String: PublicZone.Change] = [:]
        try core { () throws(SealError) in
            name = try reader.string(atMost: Limits.nameBytes)
            isDeletion = try reader.flag()
            type = try reader.string(atMost: Limits.nameBytes)
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 9)) {
                guard changes.count < Core.fieldsAtMost else { throw .invalidLength }
                let name = try reader.string(atMost: Limits.nameBytes)
                guard changes.updateValue(try publicChange(&reader), forKey: name) == nil else { throw .malformed }
            }
            time = try reader.number()
        }
        if name.isEmpty { name = Hex.encode(ID16(random: &random).bytes) }
        let (record, signature) = try zone.write(
            name, type: type.isEmpty ? nil : type, isDeletion ? nil : changes, as: own, at: time, random: &random)
        var request = Wire.ModifyRecordsRequest()
        request.operationID = ID16(random: &random).bytes
        var zoneID = Wire.ZoneID()
        zoneID.zoneName = Names.defaultZone
        request.zone = zoneID
        request.atomic = true
        request.records = [record]
        request.signature = signature
        writer.string(name)
        writer.blob(request.protobuf())
    }

    private func publicChange(_ reader: inout CanonicalReader) throws(SealError) -> PublicZone.Change {
        let kind: UInt8 = try reader.number()
        let bytes = try reader.blob(atMost: reader.remaining)
        switch kind {
        case 0: return .plain(try Value(canonicalBytes: bytes))
        // Whoever may read there has no key.
        case 1: throw .unsupported
        case 2: return .removed
        case 3:
            var handle = CanonicalReader(bytes)
            return .asset(try publicAssets[try handle.number()])
        default: throw .malformed
        }
    }

    /// The answer to a change → why it is not stored, or nothing.
    func publicAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let answer = try core { () throws(SealError) in
            try Wire.ModifyRecordsResponse(protobuf: try reader.blob(atMost: reader.remaining))
        }
        guard answer.results.count == 1 else { throw Refusal("unexpected") }
        guard case .record? = answer.results[0].outcome else {
            writer.string(Refusal(code: answer.results[0].failureCode ?? "").name)
            return
        }
        writer.string("")
    }
}
