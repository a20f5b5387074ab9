import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// One record at a time, changed, made or deleted by the visitor.
extension Core {
    static let fieldsAtMost = 4_096

    /// A zone, a record that is shown → the handle of its change, which starts from what is shown now.
    mutating func beginEdit(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let zone = try zones[try reader.number()]
        guard let shown = zone.shown(try reader.string(atMost: Limits.nameBytes)) else { throw .missingKey }
        writer.number(edits.insert(try RecordEdit(shown, in: zone), &last))
    }

    /// A zone that was read to its end, a change that goes on (`editCourse`) → nothing: it starts from what is shown
    /// now.
    mutating func renewEdit(_ reader: inout CanonicalReader) throws(SealError) {
        let zone = try zones[try reader.number()]
        let handle: UInt32 = try reader.number()
        let edit = try edits[handle]
        guard let shown = zone.shown(edit.name) else { throw .missingKey }
        edits.replace(handle, try RecordEdit(shown, in: zone, after: edit))
    }

    /// A zone, a type, a name → the handle of a record that is to be made, and its name, which is drawn where none is
    /// given. Below a share's root it is in the share.
    mutating func newRecord(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let zone = try zones[try reader.number()]
        let type = try reader.string(atMost: Limits.nameBytes)
        guard !type.isEmpty else { throw .invalidLength }
        var name = try reader.string(atMost: Limits.nameBytes)
        if name.isEmpty { name = Hex.encode(ID16(random: &random).bytes) }
        writer.number(edits.insert(RecordEdit(new: name, type: type, in: zone.scope), &last))
        writer.string(name)
    }

    /// A zone, a change → nothing: the roster that it goes by is to be asked for anew (`rosterRequest`).
    func refreshForEdit(_ reader: inout CanonicalReader) throws(Refusal) {
        let (zone, edit) = try core { () throws(SealError) in
            (try zones[try reader.number()], try edits[try reader.number()])
        }
        try zone.refresh(edit.scopeID)
    }

    /// A zone, a change, what becomes of fields (name; 0 for a value that the server sees, 1 for a sealed one, 2 for
    /// none, 3 for a file; the value's canonical bytes, or the upload's handle), time → the request that saves the
    /// record.
    mutating func saveRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, handle, changes, time) = try core {
            () throws(SealError) -> (SharedZone, UInt32, [String: RecordEdit.Change], Int64) in
            let zone = try zones[try reader.number()]
            let handle: UInt32 = try reader.number()
            var changes: [String: RecordEdit.Change] = [:]
            for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 9)) {
                guard changes.count < Core.fieldsAtMost else { throw .invalidLength }
                let name = try reader.string(atMost: Limits.nameBytes)
                guard changes.updateValue(try change(&reader), forKey: name) == nil else { throw .malformed }
            }
            return (zone, handle, changes, try reader.number())
        }
        let edit = try core { () throws(SealError) in try edits[handle] }
        let view = try edit.view(in: zone)
        let signingKey = zone.own.keys.signingKey
        let sealed = try core { () throws(SealError) in
            try edit.save(changes, in: view, by: signingKey, at: time, random: &random)
        }
        write(sealed, in: zone, &writer)
    }

    func change(_ reader: inout CanonicalReader) throws(SealError) -> RecordEdit.Change {
        let kind: UInt8 = try reader.number()
        let bytes = try reader.blob(atMost: reader.remaining)
        switch kind {
        case 0: return .plain(try Value(canonicalBytes: bytes))
        case 1: return .encrypted(try Value(canonicalBytes: bytes))
        case 2: return .removed
        case 3:
            var handle = CanonicalReader(bytes)
            return .asset(try uploads[try handle.number()])
        default: throw .malformed
        }
    }

    /// A zone, a change, time → the request that deletes the record. What would go with it is not covered: the server
    /// refuses to delete a record then.
    mutating func deleteRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, handle, time) = try core { () throws(SealError) -> (SharedZone, UInt32, Int64) in
            (try zones[try reader.number()], try reader.number(), try reader.number())
        }
        let edit = try core { () throws(SealError) in try edits[handle] }
        let view = try edit.view(in: zone)
        let signingKey = zone.own.keys.signingKey
        let sealed = try core { () throws(SealError) in
            try edit.delete(in: view, by: signingKey, at: time, random: &random)
        }
        write(sealed, in: zone, &writer)
    }

    private mutating func write(
        _ sealed: (record: Wire.Record, signature: [UInt8]), in zone: SharedZone, _ writer: inout CanonicalWriter
    ) {
        var request = Wire.ModifyRecordsRequest()
        request.operationID = ID16(random: &random).bytes
        request.zone = zone.zoneID
        request.atomic = true
        request.records = [sealed.record]
        request.signature = sealed.signature
        writer.blob(request.protobuf())
    }

    /// A zone, a change, the answer → 0: it is done, as the server says: the zone is read to its end, and `editShown`
    /// holds it to that; 1: another version stands in the way, or it is said not to be there: the zone is read to its
    /// end, and `editCourse` says what then; 2: rosters are to be asked for, and it is sent anew.
    func editAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, edit, answer) = try core {
            () throws(SealError) -> (SharedZone, RecordEdit, Wire.ModifyRecordsResponse) in
            (
                try zones[try reader.number()], try edits[try reader.number()],
                try Wire.ModifyRecordsResponse(protobuf: try reader.blob(atMost: reader.remaining))
            )
        }
        let taken = try edit.take(answer, in: zone)
        #if LIBRARY
            if taken == .conflict, try edit.makesAgain(by: answer, in: zone) {
                writer.number(RecordEdit.Answer.behind.rawValue)
                return
            }
        #endif
        writer.number(taken.rawValue)
    }

    /// A zone that was read to its end, a change → 0: it is done, though nobody has said so; 1: nothing that can be
    /// seen is different, or it is what was sent before: `renewEdit`, and it is sent by itself; 2: somebody else
    /// has changed it; 3: it was deleted.
    func editCourse(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let (zone, edit) = try core { () throws(SealError) in
            (try zones[try reader.number()], try edits[try reader.number()])
        }
        if let why = zone.disbelief(of: edit.name) { throw why }
        writer.number(try edit.course(over: zone.shown(edit.name), in: zone).rawValue)
    }

    /// A zone that was read to its end, a change that is said to be stored → nothing: what the zone shows is no longer
    /// what was there before.
    func editShown(_ reader: inout CanonicalReader) throws(Refusal) {
        let (zone, edit) = try core { () throws(SealError) in
            (try zones[try reader.number()], try edits[try reader.number()])
        }
        if let why = zone.disbelief(of: edit.name) { throw why }
        guard !edit.isUndone(in: zone) else { throw Refusal("withheld") }
    }

    /// The code of an error of a whole request, which round it was → whether it goes again once rosters are here.
    func editRefused(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let code = try reader.string(atMost: Limits.nameBytes)
        let round: UInt8 = try reader.number()
        writer.flag(WriteRounds.course(after: code, isLast: round >= WriteRounds.most) == .refreshesRosters)
    }
}
