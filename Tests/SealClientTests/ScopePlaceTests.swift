import SealClient
import SealPrimitives
import Testing

@Suite(.timeLimit(.minutes(60))) struct ScopePlaceTests {
    @Test func whatIsKeptIsReadAgain() throws {
        let place = ScopePlace(try Digest(Array(0..<32)), 0x0102_0304)
        #expect(place.bytes == Array(0..<32) + [4, 3, 2, 1])
        #expect(ScopePlace(place.bytes) == place)
    }

    @Test(arguments: [0, 32, 35, 37]) func anotherLengthIsNoPlace(_ count: Int) {
        #expect(ScopePlace([UInt8](repeating: 7, count: count)) == nil)
    }
}
