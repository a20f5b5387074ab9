import Foundation
import SealKit
import Testing

@testable import SealTorture

/// What the torture takes for a fault, and what not.
@Suite(.timeLimit(.minutes(60))) struct TortureChecksTests {

    // MARK: After a crash

    @Test func whatWasAcknowledgedHasToBeThere() throws {
        var known = KnownWorld(0)
        known.stepped(to: 1)
        try known.goOn(from: 1) { "\($0)" }
        #expect(throws: Finding.self) { try known.goOn(from: 0) { "\($0)" } }
    }

    @Test func whatGotNoAnswerIsAsBeforeOrAsAfter() throws {
        var known = KnownWorld(0)
        known.missed(2)
        #expect(throws: Finding.self) { try known.goOn(from: 1) { "\($0)" } }
        known.missed(2)
        try known.goOn(from: 2) { "\($0)" }
        #expect(known.world == 2)
        known.missed(4)
        try known.goOn(from: 2) { "\($0)" }
        #expect(known.unheardAndDone == 1)
        // Whatever it was, it is decided now.
        #expect(throws: Finding.self) { try known.goOn(from: 4) { "\($0)" } }
    }

}
