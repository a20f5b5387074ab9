import SealClient
import SealPrimitives
import SealStatements

package enum ClientWriteVectors {
    static func check(_ test: Fields, shared: Fields, type: String) throws(VectorError) {
        switch type {
        case "Restored": try checkRestored(test)
        case "Repetition": try checkRepetition(test)
        case "Conflict": try checkConflict(test)
        case "Objection": try checkObjection(test)
        case "Public": try checkPublic(test)
        default:
            var script = try WritingScript(test, shared: shared)
            try script.run(try test.objects("steps"))
        }
    }

    /// What the next statement of a record says of which a server has lost something.
    private static func checkRestored(_ test: Fields) throws(VectorError) {
        let restored = RecordWriting.Restored(
            seen: try test.version("seen"), copied: try test.version("copied"), stored: try test.version("stored"),
            gap: try test.number("gap"))
        guard let restored else { return try test.expect("verdict", .string("notLost")) }
        try test.expect("verdict", .string("lost"))
        try test.expect("revision", .number(restored.revision))
        try test.expect("previous", .hex(restored.previous))
    }

    /// A request whose answer was lost, with what there is now.
    private static func checkRepetition(_ test: Fields) throws(VectorError) {
        let bytes = try test.bytes("sent")
        let sent = try core(Statement(canonicalBytes: bytes))
        let hash = try test.digest("there")
        let told = WriteRepetition.judge(
            sent, hash: Statement.hash(bytes), over: try test.bool("isGone") ? .gone(hash: hash) : .record(hash: hash),
            isRepeatable: try test.bool("isRepeatable"))
        let name =
            switch told {
            case .stored: "stored"
            case .isGone: "isGone"
            case .mayHaveComeLater: "mayHaveComeLater"
            case .open: "open"
            }
        try test.expect("verdict", .string(name))
    }

    /// Another version in the way of an item.
    private static func checkConflict(_ test: Fields) throws(VectorError) {
        let item: WriteConflict.Item
        switch try test.string("item") {
        case "new": item = .save(wasStored: false, recordType: "Note")
        case "fetched": item = .save(wasStored: true, recordType: "Note")
        case "deletion": item = .deletion
        default: throw .missing("item")
        }
        let (hash, there) = (Digest.zero, try test.string("there"))
        let present: WritePresent
        switch there {
        case "same", "other": present = .record(hash: hash)
        case "unopened": present = .unopened(hash: hash, recordType: "Note")
        case "unopenedOfOtherType": present = .unopened(hash: hash, recordType: "Entry")
        case "gone": present = .gone(hash: hash)
        default: throw .missing("there")
        }
        let conflict = WriteConflict(
            item, policy: try WritePolicy(vector: test.string("policy")), isLast: try test.bool("isLast"))
        try test.expect("verdict", .string(conflict.outcome(over: present) { there == "same" }.name))
    }

    /// What an answer is found out by, whatever the policy.
    private static func checkObjection(_ test: Fields) throws(VectorError) {
        var present: WritePresent?
        if test.has("there") {
            let hash = try test.digest("there")
            present = try test.bool("isGone") ? .gone(hash: hash) : .record(hash: hash)
        }
        let objection = WriteConflict.objection(
            to: present, after: test.has("last") ? try test.digest("last") : nil, isDenied: try test.bool("isDenied"),
            isRekeying: try test.bool("isRekeying"))
        let name =
            switch objection {
            case .hidden?: "hidden"
            case .written?: "written"
            case nil: "none"
            }
        try test.expect("verdict", .string(name))
    }

    /// What is signed in the public database, but for the salt and the fields.
    private static func checkPublic(_ test: Fields) throws(VectorError) {
        let writing = PublicWriting(
            in: try test.scope(), by: try test.user("author"), at: try test.number("clientTime"))
        var base: RecordWriting.Base?
        if test.has("last") {
            let bytes = try test.bytes("last")
            base = RecordWriting.Base(
                try core(Statement(canonicalBytes: bytes)), hash: Statement.hash(bytes), recordKey: nil)
        }
        let type = try test.string("type")
        let statement: Statement
        if test.has("save") {
            statement = writing.save(of: try test.string("save"), type: type, after: base)
        } else {
            guard let base else { throw .missing("last") }
            statement = writing.deletion(of: try test.string("delete"), type: type, after: base)
        }
        try test.expect("statement", .hex(statement.canonicalBytes()))
    }
}

extension Fields {
    fileprivate func version(_ key: String) throws(VectorError) -> (revision: UInt64, hash: Digest)? {
        guard has(key) else { return nil }
        let version = try object(key)
        return (try version.number("revision"), try version.digest("hash"))
    }
}
