import SealEnvelope
import SealPrimitives

@testable import SealStatements

/// Generations as their owner makes them, and who continues whom. Safety numbers change with them.
enum IdentityGenerationsTarget: FuzzTarget {
    static let name = "identity-generations"
    static let maximumLength = 256
    /// Chains of some sixty generations.
    static let allowance = 524_288
    static let seeds = [
        Seed.made([]), .made([0, 3, 1, 2, 3]), .made([6, 1, 0]), .made([2, 2, 1, 1, 4, 5, 6]), .made([1, 0xFF]),
    ]
    /// One that is as long as may be: making it costs a second's worth of signatures.
    private static let longest: Person = {
        var person = World.people[0]
        while let next = person.next(World.spareKeys[person.chain.signed.count % 6]) { person = next }
        return person
    }()

    static func run(_ input: [UInt8]) {
        var choices = Choices(input)
        let first = choices.oneOf(World.people)
        var line = [first]
        let steps = choices.byte()
        if steps == 0xFF { return checkLongest() }
        for _ in 0..<steps % 6 {
            let keys = choices.oneOf(World.spareKeys)
            guard let next = line[line.count - 1].next(keys, time: choices.number()) else { break }
            line.append(next)
        }
        for (index, person) in line.enumerated() {
            require(person.chain.userID == first.userID, "another name")
            require(person.chain.current.signingKey == person.signingKey.verificationKey, "another newest key")
            require(person.chain.signingKeys.count == person.chain.signed.count, "keys without generations")
            for (other, before) in line.enumerated() {
                require(person.chain.continues(before.chain) == (other <= index), "a chain continues another wrongly")
            }
        }
        check(line[line.count - 1], choices.oneOf(line), &choices)
    }

    private static func check(_ newest: Person, _ older: Person, _ choices: inout Choices) {
        let keys = choices.oneOf(World.spareKeys)
        let time = choices.number(Int64.self)
        guard let (one, other) = fork(older, keys, time: time) else { return }
        require(!one.chain.continues(other.chain) && !other.chain.continues(one.chain), "a fork continues itself")
        // What was made is what is read, and adds up.
        let added = Array(newest.chain.signed.dropFirst(older.chain.signed.count))
        require((try? older.chain.extended(by: added)) == newest.chain, "generations that do not add up")
        if let last = added.last {
            refuses("a generation twice") { try newest.chain.extended(by: [last]) }
        }
        if added.count > 1 {
            refuses("a generation left out") { try older.chain.extended(by: Array(added.dropFirst())) }
        }
        let wrong = choices.oneOf(World.people)
        if wrong.signingKey.verificationKey != newest.signingKey.verificationKey {
            refuses("a generation signed by other keys", with: .invalidIdentity) {
                try keys.nextIdentity(after: newest.chain, signedBy: wrong.keys, time: time)
            }
        }
        guard wrong.userID != newest.userID else { return }
        checkNumber(newest.chain, one.chain, wrong.chain)
    }

    private static func fork(_ person: Person, _ keys: IdentityKeys, time: Int64) -> (Person, Person)? {
        guard let one = person.next(keys, time: time), let other = person.next(keys, time: time &+ 1) else {
            return nil
        }
        return (one, other)
    }

    private static func checkNumber(_ one: IdentityChain, _ forked: IdentityChain, _ other: IdentityChain) {
        let number = SafetyNumber.of(one, other)
        require(number == SafetyNumber.of(other, one), "two numbers for one pair")
        require(
            number.utf8.count == 60 && number.utf8.allSatisfy { (0x30...0x39).contains($0) }, "a number of another form"
        )
        require(SafetyNumber.groups(of: one, other).joined() == number, "groups that are not the number")
        // Thirty digits of a hash: two that agree by chance are not met here.
        if one != forked { require(SafetyNumber.of(forked, other) != number, "a number that does not see new keys") }
    }

    private static func checkLongest() {
        require(longest.chain.signed.count == 64, "another limit")
        refuses("a generation too many", with: .invalidLength) {
            try World.spareKeys[0].nextIdentity(after: longest.chain, signedBy: longest.keys, time: 0)
        }
    }
}
