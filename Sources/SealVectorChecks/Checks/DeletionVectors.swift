package import SealPrimitives
import SealStatements

package enum DeletionVectors {
    package static func many(_ count: Int) throws(SealError) -> [(recordName: String, hash: Digest)] {
        try (0..<count).map { number throws(SealError) in
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } + [UInt8](repeating: 0, count: 28)
            return ("Item-\(number)", try Digest(bytes))
        }
    }

    static func check(_ test: Fields, shared: Fields, type: String) throws(VectorError) {
        switch type {
        case "Taken": try checkTaken(test)
        case "Along": try checkAlong(test, in: try shared.rosters())
        default:
            let rosters = try shared.rosters()
            let (record, roster) = try test.signed("record", in: rosters)
            let notice = DerivedDeletion(
                record: record, tombstone: try test.signed("tombstone", in: rosters).statement,
                count: try test.int("count"), index: try test.int("index"), path: try test.digests("path"))
            let gone = try core(notice.verify(in: roster.scope))
            try test.expect("recordName", .string(gone.statement.recordName))
        }
    }

    private static func checkTaken(_ test: Fields) throws(VectorError) {
        let records: [(recordName: String, hash: Digest)]
        if test.has("many") {
            let count: UInt16 = try test.small("many")
            records = try core(many(Int(count)))
        } else {
            records = try test.objects("records").map { record throws(VectorError) in
                (recordName: try record.string("name"), hash: try record.digest("hash"))
            }
        }
        let taken = try core(TakenRecords(records))
        try test.expect("digest", .hex(taken.digest))
        guard test.has("recordName") else { return }
        let name = try test.string("recordName")
        guard let index = taken.names.firstIndex(of: name) else { throw .differs("recordName") }
        try test.expect("index", .int(index))
        try test.expect("path", .array(taken.path(to: index).map { .hex($0) }))
    }

    private static func checkAlong(_ test: Fields, in rosters: [String: Roster]) throws(VectorError) {
        let (target, roster) = try test.signed("target", in: rosters)
        let records = try test.objects("records").map { step throws(VectorError) in
            let reference = try step.bytes("reference")
            return TakenRecord(
                record: try step.signed("record", in: rosters).statement, field: try step.string("field"),
                reference: try core(Value(canonicalBytes: reference)), otherFields: try step.fieldDigests("otherFields")
            )
        }
        try core(TakenRecord.check(records, with: target.statement, in: roster))
        let taken = try core(
            TakenRecords(records.map { (recordName: $0.record.statement.recordName, hash: $0.record.hash) }))
        try test.expect("digest", .hex(taken.digest))
    }
}
