import SealEnvelope
import SealPrimitives
import SealStatements

package enum EnrolmentVectors {
    static func check<H: HybridEncryption>(_ test: Fields, type: String, using hybrid: H.Type) throws(VectorError) {
        let (loginKey, answer) = (try test.verificationKey("loginKey"), try test.digest("answer"))
        let (id, nonce) = (try test.id("enrolmentID"), try test.digest("nonce"))
        if type == "Transcript" {
            let (commitment, key) = (try test.digest("commitment"), try test.bytes("key"))
            let reveal = try core(Enrolment.Reveal(grantKey: key, nonce: nonce))
            let transcript = try core(
                Enrolment.Transcript(
                    enrolmentID: id, commitment: commitment, answer: answer, reveal: reveal, loginKey: loginKey))
            try test.expect("transcript", .hex(transcript.hash))
            return try test.expect("code", .string(transcript.code))
        }
        var random = ReplayedRandom(id.bytes + (try test.bytes("keySeed")) + nonce.bytes)
        let device = try core(Enrolment.NewDevice<H>(random: &random))
        let transcript = try core(device.transcript(answer: answer, loginKey: loginKey))
        let sealed = try test.bytes("sealed")
        let package = try core(device.open(sealed, confirmed: transcript.confirmedByUser()))
        try test.expect("seeds", .array(package.seeds.map { .hex($0.bytes) }))
        try test.expect(
            "heads",
            .array(
                package.heads.map {
                    .object(["scopeID": .hex($0.scopeID), "sequence": .number($0.sequence), "head": .hex($0.hash)])
                }))
    }
}
