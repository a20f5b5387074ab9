import Testing

@testable import SealServer
@testable import SealService

/// What the log and `/health` say of the way that messages take.
@Suite(.timeLimit(.minutes(60))) struct MessengerStatesTests {
    @Test func aMessageThatFailsDoubtsOnlyWhatWasGood() {
        let log = LogCapture()
        let states = MessengerStates([.email: CapturingMessenger()], logger: log.logger)
        states.doubt(.email)
        #expect(states[.email] == .untried)
        #expect(states.isUnsure(.email))
        states.note(.ok, of: .email)
        #expect(!states.isUnsure(.email))
        // Somebody mistyped an address: that is to be found out, and until then nothing is known against the relay.
        states.doubt(.email)
        #expect(states[.email] == .ok)
        #expect(states.isUnsure(.email))
        states.note(.ok, of: .email)
        #expect(!states.isUnsure(.email))
        let (good, bad) = ("codes can be sent", "codes cannot be sent")
        #expect(log.lines.filter { $0.contains(good) }.count == 1)
        for _ in 0..<3 {
            states.note(.failing, of: .email, why: "refused")
            states.doubt(.email)
            #expect(states[.email] == .failing)
        }
        #expect(log.lines.filter { $0.contains(bad) }.count == 1)
        states.note(.ok, of: .email)
        #expect(log.lines.filter { $0.contains(good) }.count == 2)
        states.doubt(.phone)
        #expect(states[.phone] == .none)
        #expect(!states.isUnsure(.phone))
    }
}
