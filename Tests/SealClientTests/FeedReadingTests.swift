import SealClient
import SealPrimitives
import SealStatements
import Testing

/// What is in no vector of a way through something in parts: those of `client-judge.json` (Feed) say what leads on.
@Suite(.timeLimit(.minutes(60))) struct FeedReadingTests {
    private var random = SystemRandom()

    private func record(_ name: String, _ statement: [UInt8]) -> Wire.Record {
        var record = Wire.Record()
        (record.recordName, record.statement) = (name, statement)
        return record
    }

    @Test mutating func everyFormOfAStatementIsAVersionOfItsOwn() throws {
        var forms: [Wire.Record] = []
        for (deleted, departed) in [(false, false), (true, false), (true, true), (false, true)] {
            var form = record("note", [1, 2, 3])
            (form.deleted, form.departed) = (deleted, departed)
            forms.append(form)
        }
        let reading = FeedReading(isWhole: true, random: &random)
        let all = forms.map { reading.item($0) }
        try reading.check(FeedReading.Part(all, from: [], to: [1], isMoreComing: true))
        #expect(throws: ClientError.circle) {
            try reading.check(FeedReading.Part(all + [all[2]], from: [], to: [1], isMoreComing: true))
        }
    }

    /// Statements of one zone begin alike, and one differs from the next only near its end.
    @Test mutating func statementsCountToTheirEnds() throws {
        var statement = [UInt8](repeating: 7, count: 400)
        let reading = FeedReading(isWhole: true, random: &random)
        let first = reading.item(record("note", statement))
        statement[399] = 8
        let second = reading.item(record("note", statement))
        #expect(throws: Never.self) {
            try reading.check(FeedReading.Part([first, second], from: [], to: [1], isMoreComing: true))
        }
    }

    @Test mutating func whatCameIsKnownInWholeReadingsAlone() throws {
        for isWhole in [true, false] {
            var reading = FeedReading(isWhole: isWhole, random: &random)
            let first = FeedReading.Part([reading.item(record("a", [1]))], from: [], to: [1], isMoreComing: true)
            try reading.check(first)
            reading.take(first)
            let last = FeedReading.Part([reading.item(record("b", [2]))], from: [1], to: [2], isMoreComing: false)
            let names = reading.names(beside: last)
            #expect(names.contains("a") == isWhole)
            #expect(names.contains("b"))
            #expect(!names.contains("c"))
            #expect(reading.hasBegun)
        }
    }

    @Test func namesThatComeAgainAreACircle() throws {
        var listing = NameListing()
        try listing.take(["a", "b"], isMoreComing: true)
        #expect(listing.last == "b")
        #expect(throws: ClientError.circle) { try listing.take(["b"], isMoreComing: false) }
        #expect(throws: ClientError.circle) { try listing.take([], isMoreComing: true) }
        try listing.take([], isMoreComing: false)
        #expect(!listing.isMoreComing)
    }

    @Test func whatIsListedComesInItsOrder() throws {
        var names = OrderedListing(after: "")
        try names.take(["Zoe", "a", "b"], isMoreComing: true)
        #expect(names.last == "b")
        for part in [["b"], ["a"], ["d", "c"], ["c", "c"]] {
            var names = names
            #expect(throws: ClientError.circle) { try names.take(part, isMoreComing: false) }
        }
        #expect(throws: ClientError.circle) { try names.take([], isMoreComing: true) }
        try names.take([], isMoreComing: false)
        var places = OrderedListing<UInt64>(after: 7)
        #expect(throws: ClientError.circle) { try places.take([7], isMoreComing: false) }
        try places.take([8, 300], isMoreComing: false)
        #expect(places.last == 300)
    }

    @Test mutating func aHashIsOfItsKeyAlone() {
        let (one, other) = (ShortHash(random: &random), ShortHash(random: &random))
        #expect(one.hash("note") == one.hash("note"))
        #expect(one.hash("note") != one.hash("notes"))
        #expect(one.hash("note") != other.hash("note"))
        #expect(one.hash("") != other.hash(""))
    }

    /// SipHash-2-4's published vector: the key 00 to 0f, the bytes 00 to 0e.
    @Test func itIsSipHash() {
        var key = Ascending()
        let hash = ShortHash(random: &key)
        let bytes = (0..<15).map { UInt8($0) }
        let found = bytes.withUnsafeBytes { hash.hash($0) }
        #expect(UInt64(littleEndian: found) == 0xa129_ca61_49be_45e5)
    }
}

/// The bytes 0, 1, 2, …
private struct Ascending: RandomSource {
    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: index) }
    }
}
