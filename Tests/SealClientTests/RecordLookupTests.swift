import SealClient
import Testing

/// Records that are asked for by name, in several requests.
@Suite(.timeLimit(.minutes(60))) struct RecordLookupTests {
    /// The requests of a look-up, each with an answer: what was left out of it, and what was overtaken.
    private func requests(
        count: Int, atMost most: Int, _ answers: [(leftOut: [Int], overtaken: [Int])]
    ) -> (asked: [[Int]], told: [Bool]) {
        var lookup = RecordLookup(count: count, atMost: most)
        var asked: [[Int]] = []
        var told: [Bool] = []
        var next = answers.makeIterator()
        while let part = lookup.request() {
            let answer = next.next() ?? ([], [])
            asked.append(part)
            told.append(lookup.settle(part, leftOut: answer.leftOut, overtaken: answer.overtaken))
        }
        return (asked, told)
    }

    @Test func allIsAskedForInParts() {
        let all = requests(count: 5, atMost: 2, [])
        #expect(all.asked == [[0, 1], [2, 3], [4]])
        #expect(all.told == [true, true, true])
        #expect(requests(count: 0, atMost: 2, []).asked.isEmpty)
    }

    @Test func whatHadNoRoomIsAskedForFirst() {
        let all = requests(count: 4, atMost: 3, [([1, 2], [])])
        #expect(all.asked == [[0, 1, 2], [1, 2, 3]])
        #expect(all.told == [true, true])
    }

    /// What is told together was there together, until somebody keeps writing one of the records.
    @Test func whatWasOvertakenIsAskedForWithAllBesideIt() {
        let once = requests(count: 3, atMost: 400, [([1], [2])])
        #expect(once.asked == [[0, 1, 2], [0, 1, 2]])
        #expect(once.told == [false, true])
        let often = requests(count: 3, atMost: 400, Array(repeating: ([1], [2]), count: 9))
        #expect(often.asked == Array(repeating: [0, 1, 2], count: 9) + [[1, 2]])
        #expect(often.told == Array(repeating: false, count: 8) + [true, true])
    }
}
