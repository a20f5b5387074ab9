import SealClient
import SealPrimitives
import SealStatements

package enum ClientWriteVectors {
    static func check(_ test: Fields, shared: Fields, type: String) throws(VectorError) {
        switch type {
        case "Restored": try checkRestored(test)
        case "Repetition": try checkRepetition(test)
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
}

extension Fields {
    fileprivate func version(_ key: String) throws(VectorError) -> (revision: UInt64, hash: Digest)? {
        guard has(key) else { return nil }
        let version = try object(key)
        return (try version.number("revision"), try version.digest("hash"))
    }
}
