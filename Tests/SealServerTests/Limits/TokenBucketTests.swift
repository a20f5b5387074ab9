import SealWire
import Testing

@testable import SealServer
@testable import SealService

@Suite(.timeLimit(.minutes(60))) struct TokenBucketTests {
    @Test func aBucketGivesWhatItHasAndSaysExactlyWhenThereIsMore() {
        // Three tokens, one each second.
        let rule = TokenBucket.Rule(count: 3, window: 3_000_000)
        var bucket = TokenBucket(rule, now: 1_000)
        for _ in 0..<3 { #expect(bucket.take(1, rule, now: 1_000) == nil) }
        #expect(bucket.take(1, rule, now: 1_000) == 1_000_000)
        #expect(bucket.take(1, rule, now: 501_000) == 500_000)
        #expect(bucket.take(1, rule, now: 1_000_999) == 1)
        #expect(bucket.take(1, rule, now: 1_001_000) == nil)
        #expect(bucket.take(2, rule, now: 1_001_000) == 2_000_000)
        #expect(bucket.remaining(rule) == 0)
        #expect(bucket.fullTime(rule) == 4_001_000)
    }

    @Test func whatHasBeenDoneIsOwed() {
        let rule = TokenBucket.Rule(count: 3, window: 3_000_000)
        var bucket = TokenBucket(rule, now: 0)
        bucket.charge(3, rule, now: 0)
        #expect(bucket.isOwing(rule, now: 0) == false)
        bucket.charge(2, rule, now: 0)
        #expect(bucket.remaining(rule) == 0)
        #expect(bucket.isOwing(rule, now: 1_999_999) == true)
        #expect(bucket.isOwing(rule, now: 2_000_000) == false)
        #expect(bucket.take(1, rule, now: 2_000_000) == 1_000_000)
        // A full bucket's at most, whatever was done.
        bucket.charge(.max, rule, now: 2_000_000)
        #expect(bucket.take(1, rule, now: 2_000_000) == 4_000_000)
        let huge = TokenBucket.Rule(count: .max, window: .max)
        var large = TokenBucket(huge, now: 0)
        large.charge(.max, huge, now: 0)
        #expect(large.isOwing(huge, now: 0) || large.level == 0)
    }

    @Test func nothingIsLostToRounding() {
        // Seven tokens in a second do not divide it; looked at each microsecond, they all come, and none too many.
        let rule = TokenBucket.Rule(count: 7, window: 1_000_000)
        var bucket = TokenBucket(rule, now: 0)
        #expect(bucket.take(7, rule, now: 0) == nil)
        var taken = 0
        for now in Int64(1)...2_000_000 where bucket.take(1, rule, now: now) == nil { taken += 1 }
        #expect(taken == 14)
    }

    @Test func whatIsLargerThanABucketWaitsForAFullOne() {
        let rule = TokenBucket.Rule(count: 10, window: 10_000_000)
        var bucket = TokenBucket(rule, now: 0)
        #expect(bucket.take(400, rule, now: 0) == nil)
        #expect(bucket.take(400, rule, now: 9_000_000) == 1_000_000)
        #expect(bucket.take(400, rule, now: 10_000_000) == nil)
        #expect(bucket.take(Int.max, rule, now: 20_000_000) == nil)
        #expect(bucket.take(0, rule, now: 20_000_000) == nil)
        #expect(bucket.take(-5, rule, now: 20_000_000) == nil)
    }

    @Test func clocksAndRulesAtTheirEndsDoNotOverflow() {
        for rule in [
            TokenBucket.Rule(count: .max, window: .max), .init(count: 0, window: 0), .init(count: -1, window: -1),
            .steady(perSecond: .max), .steady(perSecond: 1_000_000),
        ] {
            #expect(rule.count >= 1)
            #expect(rule.window >= 1)
            var bucket = TokenBucket(rule, now: 0)
            _ = bucket.take(.max, rule, now: 0)
            _ = bucket.take(.max, rule, now: 1 << 60)
            // Set back by ten years: nothing comes of it, and the bucket goes on from there.
            _ = bucket.take(.max, rule, now: 5)
            _ = bucket.take(1, rule, now: 1 << 60)
            #expect(bucket.remaining(rule) >= 0)
        }
        let rule = TokenBucket.Rule(count: 1, window: 10)
        var bucket = TokenBucket(rule, now: 1_000)
        #expect(bucket.take(1, rule, now: 1_000) == nil)
        #expect(bucket.take(1, rule, now: 0) == 10)
        #expect(bucket.take(1, rule, now: 10) == nil)
    }

    @Test func theLimiterCountsEachKindAndSubjectForItself() throws {
        let limiter = RateLimiter(capacity: 4, shards: 1)
        let rule = RateLimiter.Rule(count: 3, window: 9_000_000)
        let standing = try limiter.count(.lookup, .account(1), rule: rule, now: 0)
        #expect(standing.limit == 3)
        #expect(standing.remaining == 2)
        #expect(standing.reset == 3_000_000)
        try limiter.count(.lookup, .account(1), amount: 2, rule: rule, now: 0)
        #expect { try limiter.count(.lookup, .account(1), rule: rule, now: 500_000) } throws: { error in
            (error as? ServerError)?.code == .requestRateLimited && (error as? ServerError)?.retryAfter == 2.5
                && (error as? ServerError)?.remedy == "Try again in 3 seconds."
        }
        try limiter.count(.recovery, .account(1), amount: 3, rule: rule, now: 0)
        try limiter.count(.lookup, .client([1]), amount: 3, rule: rule, now: 0)
        // What is refused is not counted.
        try limiter.count(.lookup, .account(1), rule: rule, now: 3_000_000)
    }

    @Test func memoryIsBoundedAndTheFullestAreForgottenFirst() throws {
        let limiter = RateLimiter(capacity: 8, shards: 1)
        let rule = RateLimiter.Rule(count: 10, window: 10_000_000)
        // One has used up everything, many others come once each.
        try limiter.count(.request, .account(0), amount: 10, rule: rule, now: 0)
        for subject in 1...1_000 {
            try limiter.count(.request, .account(Int64(subject)), rule: rule, now: 0)
            #expect(limiter.rememberedCount <= 8)
        }
        #expect(throws: ServerError.self) { try limiter.count(.request, .account(0), rule: rule, now: 0) }
        // Full again: there is nothing to remember.
        for subject in 1...100 {
            try limiter.count(
                .request, .account(Int64(subject)), amount: 10, rule: rule, now: Int64(subject) * 20_000_000)
        }
        #expect(limiter.rememberedCount <= 8)
    }
}
