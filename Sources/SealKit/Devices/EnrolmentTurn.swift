import Synchronization

/// One enrolment at a time (R-ENROL-1): whoever stands between two devices has one try in a million at each comparison,
/// in front of their users. A device that took part in several at once would give away as many.
final class EnrolmentTurns: Sendable {
    /// Of this process as a device that is to be enrolled, which has no account yet that could say so.
    static let ofNewDevice = EnrolmentTurns()

    /// As long as an enrolment lasts on the server: one that was forgotten keeps no other waiting for longer.
    private static let time = Duration.seconds(600)
    private let taken = Mutex<(number: UInt64, until: ContinuousClock.Instant?)>((0, nil))

    /// - Throws: `constraintViolation` while another one is under way.
    func take() throws(SealKitError) -> EnrolmentTurn {
        let now = ContinuousClock.now
        let number = taken.withLock { taken -> UInt64? in
            if let until = taken.until, now < until { return nil }
            taken = (taken.number + 1, now + EnrolmentTurns.time)
            return taken.number
        }
        guard let number else {
            throw SealKitError(
                .constraintViolation, "this device takes part in an enrolment already, and in one at a time",
                remedy: "confirm or cancel that one first, each at its user's word")
        }
        return EnrolmentTurn(number, of: self)
    }

    fileprivate func end(_ number: UInt64) {
        taken.withLock { taken in if taken.number == number { taken.until = nil } }
    }
}

/// The place that one enrolment takes until it has ended, or nobody holds it any more.
final class EnrolmentTurn: Sendable {
    private let number: UInt64
    private let turns: EnrolmentTurns

    fileprivate init(_ number: UInt64, of turns: EnrolmentTurns) { (self.number, self.turns) = (number, turns) }

    deinit { end() }

    func end() { turns.end(number) }
}
