import SealPrimitives
import SealVectorChecks

/// C2SP/CCTV's collection of signatures on whose validity implementations of Ed25519 disagree. It gives no verdicts, so
/// ours and libsodium's are pinned here: a change of either is a change of what the protocol accepts.
enum CCTVEd25519: PublishedFamily {
    static let name = "CCTV ed25519"
    static let count = 914

    /// What libsodium's `crypto_sign_verify_detached` accepts: none with a key or an R of small order or not canonical,
    /// but keys and Rs with a component of small order where cofactors happen to cancel.
    static let acceptedByLibsodium: Set<Int> = [
        7, 29, 50, 117, 139, 161, 182, 249, 305, 411, 425, 438, 465, 473, 481, 489, 497, 511, 525, 538, 565, 573, 581,
        589, 597, 611,
        625, 638, 665, 673, 681, 689, 697, 711, 725, 738, 765, 773, 781, 789, 797, 832, 899,
    ]
    /// `VerificationKey` takes keys of the prime-order subgroup alone. The other 42 have the flag
    /// `low_order_component_A`: no honest seed gives such a key, and under it a signature's validity would depend on
    /// who verifies.
    static let accepted: Set<Int> = [305]

    static func recognises(_ file: JSON) -> Bool {
        guard let first = file.list?.first else { return false }
        return ["number", "key", "sig", "msg", "flags"].allSatisfy { first.has($0) }
    }

    static func run(_ file: JSON, into report: inout PublishedReport) throws {
        var numbers: Set<Int> = []
        var accepted = 0
        for test in file.list ?? [] {
            let number = try test.int("number")
            let (key, signature, message) = (
                try test.bytes("key"), try test.bytes("sig"), [UInt8](try test.string("msg").utf8)
            )
            let isAccepted = (try? VerificationKey(key).verify(signature, message: message)) != nil
            let byLibsodium = BareSodium.verifies(signature, over: message, by: key)
            numbers.insert(number)
            accepted += byLibsodium ? 1 : 0
            if byLibsodium != acceptedByLibsodium.contains(number) {
                report.miss("\(number): libsodium \(byLibsodium ? "accepts" : "refuses") it, other than pinned")
            } else {
                report.test(
                    "\(number)", accepted: Self.accepted.contains(number),
                    by: [PublishedVerdict("VerificationKey", isAccepted)])
            }
        }
        if numbers != Set(0..<count) { report.miss("the pinned verdicts are for the numbers 0 to \(count - 1)") }
        report.remark("libsodium alone accepts \(accepted)")
    }
}
