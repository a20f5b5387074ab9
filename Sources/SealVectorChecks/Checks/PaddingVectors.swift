import SealEnvelope
import SealStatements

package enum PaddingVectors {
    static func check(_ test: Fields, type: String) throws(VectorError) {
        if type == "PaddedLength" {
            return try test.expect("padded", .number(Padding.paddedLength(try test.number("size"))))
        }
        let plaintext = try test.bytes("plaintext")
        try test.expect("value", ValueVectors.json(try core(Value(padded: plaintext))))
    }
}
