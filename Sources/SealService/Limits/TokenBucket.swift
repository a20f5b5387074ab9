/// Tokens that fill up steadily and are taken by what is done. All in whole numbers: nothing is lost to rounding,
/// however often a bucket is looked at.
package struct TokenBucket: Sendable {
    /// How many tokens a bucket has when it is full, and how long an empty one takes to fill.
    package struct Rule: Sendable, Equatable {
        package let count: Int64
        /// Microseconds.
        package let window: Int64

        /// - Parameters:
        ///   - count: at least 1.
        ///   - window: microseconds, at least 1.
        package init(count: Int, window: Int64) {
            // Parts of tokens are counted (see `level`), and have to fit.
            self.window = min(max(1, window), Int64.max / 2)
            self.count = min(max(1, Int64(count)), Int64.max / 2 / self.window)
        }

        /// So many a second in the long run, of which ten minutes' worth may come at once: a device that syncs for the
        /// first time is not held up, one that never stops is.
        package static func steady(perSecond rate: Int) -> Rule {
            Rule(count: rate.multipliedReportingOverflow(by: 600).overflow ? Int.max : rate * 600, window: 600_000_000)
        }

        /// What each of so many has, that together have all of it.
        package func part(of others: Int) -> Rule {
            others > 1 ? Rule(count: Int(count) / others, window: window) : self
        }

        fileprivate var capacity: Int64 { count * window }
    }

    /// In parts of a token: a token has as many as its rule's window has microseconds, so that each microsecond brings
    /// `count` of them.
    package private(set) var level: Int64
    package private(set) var time: Int64

    /// A full bucket.
    package init(_ rule: Rule, now: Int64) {
        level = rule.capacity
        time = now
    }

    /// One that was kept. Its rule may have changed since.
    package init(level: Int64, time: Int64) {
        self.level = level
        self.time = time
    }

    /// Takes tokens, or none. A full bucket is enough for any amount, or what is larger than it could never be done.
    /// - Returns: nil when they were taken, else the microseconds until they are there.
    package mutating func take(_ amount: Int, _ rule: Rule, now: Int64) -> Int64? {
        refill(rule, now)
        let needed = min(Int64(max(0, amount)), rule.count) * rule.window
        guard level >= needed else { return (needed - level - 1) / rule.count + 1 }
        level -= needed
        return nil
    }

    /// Takes tokens for what has been done, also such as are not there: they are owed then, a full bucket's at most.
    package mutating func charge(_ amount: Int, _ rule: Rule, now: Int64) {
        refill(rule, now)
        level -= min(Int64(max(0, amount)), max(0, level + rule.capacity) / rule.window) * rule.window
    }

    /// Whether tokens are owed.
    package mutating func isOwing(_ rule: Rule, now: Int64) -> Bool {
        refill(rule, now)
        return level < 0
    }

    /// Puts tokens back that were taken for something that turned out not to be counted here.
    package mutating func giveBack(_ amount: Int, _ rule: Rule) {
        level = min(rule.capacity, level + min(Int64(max(0, amount)), rule.count) * rule.window)
    }

    /// Whole tokens that are left.
    package func remaining(_ rule: Rule) -> Int64 { max(0, level / rule.window) }

    /// When it will be full, if nothing is taken: microseconds since 1970.
    package func fullTime(_ rule: Rule) -> Int64 {
        level >= rule.capacity ? time : time + (rule.capacity - level - 1) / rule.count + 1
    }

    private mutating func refill(_ rule: Rule, _ now: Int64) {
        // A clock that was set back neither fills nor stops the bucket.
        let elapsed = max(0, now - time)
        time = now
        let (gained, overflows) = elapsed.multipliedReportingOverflow(by: rule.count)
        level = overflows || gained >= rule.capacity - level ? rule.capacity : level + gained
    }
}
