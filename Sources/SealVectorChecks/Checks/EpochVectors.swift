import SealEnvelope
import SealPrimitives
import SealStatements

package enum EpochVectors {
    static func check(_ test: Fields, shared: Fields, type: String) throws(VectorError) {
        let key = try test.secret("key")
        if type == "KeyID" {
            let (context, keyID) = (try test.context(), try test.digest("keyID"))
            _ = try core(EpochKey(key, context: context, keyID: keyID))
            return
        }
        let roster = try shared.roster()
        let (epoch, earlier) = (try test.epoch("epoch", of: roster), try test.epoch("previousEpoch", of: roster))
        let keyID = GrantVectors.keyID(try test.bytes("key"), epoch.context)
        let epochKey = try core(EpochKey(key, context: epoch.context, keyID: keyID))
        let sealed = try test.bytes("sealed")
        let previous = try core(epochKey.openPrevious(sealed, epoch: earlier))
        var random = ReplayedRandom(try test.bytes("random"))
        try test.expect("sealed", .hex(epochKey.seal(previous: previous, random: &random)))
        var source = ReplayedRandom(try test.bytes("previous"))
        guard EpochKey(random: &source, context: earlier.context).keyID == previous.keyID else {
            throw .differs("previous")
        }
    }
}
