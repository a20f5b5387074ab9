import Testing

@testable import SealServer
@testable import SealService

/// What the log and `/health` say of the way that messages take.
@Suite(.timeLimit(.minutes(60))) struct MessengerStatesTests {
    @Test func aMessageThatFailsDoubtsTheWayAndThreeInARowSayThatItFails() {
        let log = LogCapture()
        let states = MessengerStates([.email: CapturingMessenger()], logger: log.logger)
        let (good, bad) = ("codes can be sent", "codes cannot be sent")
        #expect(states[.email] == .untried)
        #expect(states.isUnsure(.email))
        states.isOpen(.email)
        #expect(states[.email] == .ok)
        #expect(!states.isUnsure(.email))
        // Somebody mistyped an address, or not: the way is to be tried once for it, and the latest message shows.
        let isFirstToDoubt = states.refused(.email, isFirst: true, why: "refused")
        #expect(isFirstToDoubt)
        let isSecond = states.refused(.email, isFirst: false, why: "refused")
        #expect(!isSecond)
        #expect(states[.email] == .refused)
        #expect(states.isUnsure(.email))
        states.isOpen(.email)
        #expect(states[.email] == .refused)
        #expect(!states.isUnsure(.email))
        // What is sent says more than what is tried.
        states.sent(.email)
        #expect(states[.email] == .ok)
        #expect(log.lines.filter { $0.contains(good) }.count == 1)
        for _ in 0..<MessengerStates.mostRefusals {
            #expect(states[.email] != .failing)
            _ = states.refused(.email, isFirst: true, why: "refused")
        }
        #expect(states[.email] == .failing)
        states.isOpen(.email)
        #expect(states[.email] == .failing)
        for _ in 0..<3 {
            states.failed(.email, why: "away")
            #expect(states[.email] == .failing)
        }
        #expect(log.lines.filter { $0.contains(bad) }.count == 1)
        states.sent(.email)
        #expect(states[.email] == .ok)
        #expect(log.lines.filter { $0.contains(good) }.count == 2)
        states.failed(.phone, why: "there is none")
        #expect(states[.phone] == .none)
        #expect(!states.isUnsure(.phone))
    }
}
