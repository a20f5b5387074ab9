import SealStatements

package enum SafetyNumberVectors {
    static func check(_ test: Fields) throws(VectorError) {
        let container = try test.string("container")
        let (one, other) = (try test.chain("one", container: container), try test.chain("other", container: container))
        try test.expect("digits", .string(SafetyNumber.of(one, other)))
    }
}
