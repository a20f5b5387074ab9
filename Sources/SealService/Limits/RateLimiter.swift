import SealCoding
import SealPrimitives
package import SealStorage
import SealWire
import Synchronization

/// Counts what clients do, in token buckets, in memory: a restart forgives.
package final class RateLimiter: Sendable {
    package typealias Rule = TokenBucket.Rule

    /// What is counted. Each kind has its own bucket for each subject.
    package enum Kind: String, Hashable, Sendable {
        case request, write, read, sharing
        /// What event streams tell, which nobody asks for one by one: they wait, and are not refused.
        case notification
        case anonymousRequest
        case accountCreation
        case recovery
        case enrolment
        case lookup
        case verificationTry
        case epochOpening
        case accessRequest
        case serverKeyCreation
        case rosterEntry
        case operatorTry
        case operatorMail

        /// Whether each server counts for itself, a part of the limit: what comes by the thousand, and costs each no
        /// more than its own work.
        var isDivided: Bool {
            switch self {
            case .request, .write, .read, .sharing, .notification, .anonymousRequest: true
            case .accountCreation, .recovery, .enrolment, .lookup, .verificationTry, .epochOpening, .accessRequest,
                .serverKeyCreation, .rosterEntry, .operatorTry, .operatorMail:
                false
            }
        }
    }

    /// Who is counted.
    package enum Subject: Hashable, Sendable {
        case account(Int64)
        /// `ClientAddress.bytes`.
        case client([UInt8])
        /// One author in one zone; for entries, one of its scopes.
        case author(owner: Int64, zone: Int64, caller: Int64)
    }

    /// How a subject stands after it was counted.
    package struct Standing: Sendable {
        package let limit: Int64
        package let remaining: Int64
        /// Microseconds until the bucket is full again.
        package let reset: Int64
    }

    private struct Key: Hashable {
        let kind: Kind
        let subject: Subject
    }

    private struct Entry {
        var bucket: TokenBucket
        /// A bucket that is full again says nothing, and may go.
        var full: Int64
    }

    /// Each with a lock of its own, so that requests on several cores seldom wait for one another.
    private final class Shard: Sendable {
        let entries = Mutex<[Key: Entry]>([:])
    }

    private let shards: [Shard]
    private let capacity: Int
    private let metrics: ServerMetrics

    /// - Parameter capacity: how many subjects are remembered at once.
    package init(capacity: Int = 131_072, shards: Int = 32, metrics: ServerMetrics = .off) {
        self.metrics = metrics
        self.shards = (0..<max(1, shards)).map { _ in Shard() }
        self.capacity = max(1, capacity / max(1, shards))
    }

    /// Takes `amount` from the subject's bucket.
    ///
    /// Throws `requestRateLimited` with the time until there is enough; what is refused is not counted.
    @discardableResult
    package func count(
        _ kind: Kind, _ subject: Subject, amount: Int = 1, rule: Rule, now: Int64
    ) throws(ServerError) -> Standing {
        let (wait, standing) = update(kind, subject, rule, now: now) { bucket -> (Int64?, Standing) in
            let wait = bucket.take(amount, rule, now: now)
            let reset = bucket.fullTime(rule) - now
            return (wait, Standing(limit: rule.count, remaining: bucket.remaining(rule), reset: reset))
        }
        if let wait {
            metrics.count(.refusals, kind.rawValue)
            throw .rateLimited(until: now + wait, now: now)
        }
        return standing
    }

    /// Takes `amount` for what has been done, also where there is not as much: it is owed then.
    package func charge(_ kind: Kind, _ subject: Subject, amount: Int, rule: Rule, now: Int64) {
        update(kind, subject, rule, now: now) { $0.charge(amount, rule, now: now) }
    }

    /// Whether the subject owes something, and has to wait.
    package func isOwing(_ kind: Kind, _ subject: Subject, rule: Rule, now: Int64) -> Bool {
        let key = Key(kind: kind, subject: subject)
        // Who is not remembered owes nothing.
        return shard(of: key).entries.withLock { $0[key]?.bucket.isOwing(rule, now: now) ?? false }
    }

    private func update<Result: Sendable>(
        _ kind: Kind, _ subject: Subject, _ rule: Rule, now: Int64, _ change: (inout TokenBucket) -> Result
    ) -> Result {
        let key = Key(kind: kind, subject: subject)
        return shard(of: key).entries.withLock { entries in
            let known = entries[key]
            var bucket = known?.bucket ?? TokenBucket(rule, now: now)
            let result = change(&bucket)
            if known == nil, entries.count >= capacity { Self.makeRoom(in: &entries, capacity, now: now) }
            entries[key] = Entry(bucket: bucket, full: bucket.fullTime(rule))
            return result
        }
    }

    /// Puts one token back that was taken for something that turned out not to be counted here.
    package func giveBack(_ kind: Kind, _ subject: Subject, rule: Rule) {
        let key = Key(kind: kind, subject: subject)
        shard(of: key).entries.withLock { entries in
            // One that is not remembered any more is full.
            guard var entry = entries[key] else { return }
            entry.bucket.giveBack(1, rule)
            entry.full = entry.bucket.fullTime(rule)
            entries[key] = entry
        }
    }

    private func shard(of key: Key) -> Shard { shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))] }

    /// How many subjects are remembered, for tests.
    var rememberedCount: Int { shards.reduce(0) { $0 + $1.entries.withLock { $0.count } } }

    /// Somebody may come from very many addresses: then those go that are nearest to being full, who lose the least by
    /// it.
    private static func makeRoom(in entries: inout [Key: Entry], _ capacity: Int, now: Int64) {
        entries = entries.filter { $0.value.full > now }
        guard entries.count >= capacity else { return }
        let middle = entries.values.map(\.full).sorted()[entries.count / 2]
        entries = entries.filter { $0.value.full > middle }
    }
}

extension ServerError {
    package static func rateLimited(until: Int64, now: Int64) -> ServerError {
        let seconds = Double(until - now) / 1_000_000
        return ServerError(
            .requestRateLimited, "Too many requests of this kind.",
            remedy: "Try again in \(Int(seconds.rounded(.up))) seconds.", retryAfter: seconds)
    }
}
