/// What the clock is believed as to what is too old. One that is ahead while a machine starts or resumes is set right
/// soon, and until then all there is would be old: where it has gone on by more than it does between two writes, it is
/// looked at for an hour first. All times are seconds since 1970.
struct AgeClock: Sendable {
    private struct Leap {
        let from: Int64
        let to: Int64
    }

    private static let (longestPause, patience): (Int64, Int64) = (7_200, 3_600)

    /// Of the last write.
    private(set) var last: Int64?
    private var leap: Leap?

    /// - Parameter newest: of what is in the file; nil where there is nothing, or something was written before.
    /// - Returns: the time by which things are old.
    mutating func believed(now: Int64, newest: Int64?) -> Int64 {
        let before = last ?? newest ?? now
        last = now
        guard let known = leap, now >= known.to, now <= before + Self.longestPause else {
            // It goes on as ever, leaps, or was set back.
            let from = leap?.from ?? before
            let isLeap = now > from + Self.longestPause
            leap = isLeap ? Leap(from: from, to: now) : nil
            return isLeap ? from : now
        }
        guard now >= known.to + Self.patience else { return known.from + now - known.to }
        leap = nil
        return now
    }
}
