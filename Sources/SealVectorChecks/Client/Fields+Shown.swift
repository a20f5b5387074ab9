import SealClient
import SealPrimitives
import SealStatements

// Records as an answer shows them.

extension Fields {
    /// `record`, what is shown beside it (`shown`, its `fields`), and what came along.
    func shownRecord() throws(VectorError) -> Wire.Record {
        let beside = try object("shown")
        var record = try object("record").wireRecord()
        record.recordName = try beside.string("recordName")
        record.recordType = try beside.string("recordType")
        record.deleted = beside.has("deleted")
        record.departed = beside.has("departed")
        if has("fields") {
            record.fields = try objects("fields").map { field throws(VectorError) in try field.wireField() }
        }
        if has("moved") {
            let moved = try object("moved")
            record.moved = Wire.SignedMove()
            record.moved?.statement = try moved.bytes("statement")
            record.moved?.proof = Wire.StatementProof(try moved.proof())
        }
        if has("tombstone") {
            var derived = Wire.DerivedDeletion()
            derived.tombstone = Nested(try object("tombstone").wireRecord())
            derived.count = try small("count")
            derived.index = try small("index")
            for node in try digests("path") { node.append(to: &derived.path) }
            record.derived = derived
        }
        return record
    }

    private func wireRecord() throws(VectorError) -> Wire.Record {
        var record = Wire.Record()
        record.statement = try bytes("statement")
        record.proof = Wire.StatementProof(try proof())
        return record
    }

    /// A plain field by its canonical bytes, or any by its digest.
    private func wireField() throws(VectorError) -> Wire.Field {
        var field = Wire.Field()
        field.name = try string("name")
        if has("digest") {
            field.content = .omitted(try bytes("digest"))
        } else {
            let encoded = try bytes("value")
            field.content = .plain(Wire.Value(try core(Value(canonicalBytes: encoded))))
        }
        return field
    }

    /// A record that is said to go along with a deletion: its reference is `field` with its `value`, and of the
    /// `otherFields` there are digests.
    func takenRecord() throws(VectorError) -> Wire.TakenRecord {
        var taken = Wire.TakenRecord()
        taken.record = try shownRecord()
        taken.field = try string("field")
        return taken
    }
}
