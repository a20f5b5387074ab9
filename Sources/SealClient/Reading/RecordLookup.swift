/// Records that are asked for by name, in as many requests as it takes: what has no room in an answer is asked for
/// again, and so is what this device has come to know better since it asked.
///
/// What is told together was there together: an answer that this device knows better than by now is asked for again as
/// a whole. Beside somebody who keeps writing one record the others are not waited for.
public struct RecordLookup: Sendable {
    private let count: Int
    private let most: Int
    private var next = 0
    private var again: [Int] = []
    private var wholes = 0

    private static let mostWholeRepetitions = 8

    /// - Parameters:
    ///   - count: of the records, which are counted from 0 on here.
    ///   - most: that one request may ask for.
    public init(count: Int, atMost most: Int) { (self.count, self.most) = (count, most) }

    /// What the next request asks for; nil where all is told.
    public mutating func request() -> [Int]? {
        guard next < count || !again.isEmpty else { return nil }
        let end = min(next + most - again.count, count)
        let part = again + (next..<end)
        (next, again) = (end, [])
        return part
    }

    /// - Parameters:
    ///   - part: what was asked for.
    ///   - leftOut: of it, what the answer had no room for, beside others that it had.
    ///   - overtaken: of it, what this device knows better than the answer.
    /// - Returns: whether the rest is told by this answer; otherwise all of it is asked for again.
    public mutating func settle(_ part: [Int], leftOut: [Int], overtaken: [Int]) -> Bool {
        if !overtaken.isEmpty, wholes < RecordLookup.mostWholeRepetitions {
            wholes += 1
            again = part
            return false
        }
        again = leftOut + overtaken
        return true
    }
}
