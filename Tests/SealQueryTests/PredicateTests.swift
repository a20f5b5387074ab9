import SealQuery
import Testing

@Suite struct PredicateTests {
    @Test func constantsDiffer() { #expect(Predicate.constant(true) != .constant(false)) }
}
