/// The number of an account or an identity: above the shard that has its account's rows, below a number that is given
/// out once.
///
/// Every row is keyed by such a number, of an owner, a viewer, a subscriber or an account, and all numbers of one
/// account name the same shard: whoever has a number knows where its rows are. Numbers are never given out again,
/// whatever is erased.
package struct ShardedNumber: Sendable, Hashable {
    /// `shard << 40 | n`: a million million numbers a shard, and positive in four million shards. What is negative has
    /// numbers of its own: public databases, and accounts that were deleted.
    package static let bits: Int64 = 40
    package static let shards: ClosedRange<Int64> = 1...1 << 22
    private static let mask: Int64 = (1 << bits) - 1

    package let rawValue: Int64

    package var shard: Int64 { rawValue >> Self.bits }
    /// Within its shard.
    package var number: Int64 { rawValue & Self.mask }

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The next one of a shard, in the caller's transaction.
    package static func next(in shard: Int64, _ connection: any SQLConnection) throws -> ShardedNumber {
        let number = try connection.first(
            """
            INSERT INTO shard_number (shard, last) VALUES ($1, 1)
            ON CONFLICT (shard) DO UPDATE SET last = shard_number.last + 1 RETURNING last
            """, [.integer(shard)]
        ) { try $0.int64("last") }
        guard let number, shards.contains(shard), number <= mask else { throw StorageError.noNumber(shard: shard) }
        return ShardedNumber(rawValue: shard << bits | number)
    }

    /// Which shard a database is, where new accounts are made: the setting `shard`.
    package static func shard(of connection: any SQLConnection) throws -> Int64 {
        guard let shard = try connection.setting("shard").flatMap({ Int64($0) }), shards.contains(shard) else {
            throw StorageError.invalidSetting(name: "shard")
        }
        return shard
    }
}
