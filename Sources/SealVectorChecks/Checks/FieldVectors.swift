import SealPrimitives
import SealStatements

package enum FieldVectors {
    static func check(_ test: Fields, type: String) throws(VectorError) {
        if type == "FieldSet" {
            let fields = try test.fieldDigests("fields")
            return try test.expect("digest", .hex(try core(FieldSet.digest(fields))))
        }
        let stored = try test.bytes("stored")
        let type: UInt8 = try test.small("type")
        let tag = try core(ValueTag(byte: type))
        let field: StoredField
        switch try test.int("class") {
        case 1: field = .plain(try core(Value(canonicalBytes: stored)))
        case 2: field = .encrypted(tag, sealed: stored)
        default: field = .asset(try core(AssetCommitment(canonicalBytes: stored)))
        }
        let name = try test.string("name")
        try test.expect("digest", .hex(try core(field.digest(name: name))))
    }
}
