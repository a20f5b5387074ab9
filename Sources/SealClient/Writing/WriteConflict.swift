public import SealPrimitives

/// What there is under a name that is written to, verified and held against what was seen.
public enum WritePresent: Sendable {
    /// - Parameter hash: of its statement.
    case record(hash: Digest)
    /// It is signed by somebody who may write, and does not open.
    case unopened(hash: Digest, recordType: String)
    /// - Parameter hash: of the statement with which it went.
    case gone(hash: Digest)

    public var hash: Digest {
        switch self {
        case .record(let hash), .unopened(let hash, _), .gone(let hash): hash
        }
    }

    public var isThere: Bool { if case .gone = self { false } else { true } }
}

/// Another version stands in the way of an item: what becomes of it, as the save policy says.
public struct WriteConflict: Sendable {
    public enum Item: Sendable {
        /// - Parameters:
        ///   - wasStored: it was fetched or saved before, and not deleted since.
        ///   - recordType: that it is to have.
        case save(wasStored: Bool, recordType: String)
        case deletion
    }

    public enum Outcome: Sendable, Equatable {
        // Goes again
        /// The deletion, after the newest statement.
        case deletesNewest
        /// The record, made again after its deletion: it goes on counting there.
        case makesAgain
        /// What the app gave, merged into what there is.
        case merges
        /// What the app gave, in the place of what does not open.
        case replaces

        // Has its result
        /// The record that was to be deleted has gone.
        case isGone
        /// The app has to merge.
        case changed
        /// The record was deleted.
        case deleted
        /// What there is does not open, and nothing may be lost of it in silence.
        case unopened
        /// What does not open is of another type.
        case otherType
        /// There were enough rounds.
        case keepsChanging
    }

    private let item: Item
    private let policy: WritePolicy
    private let isLast: Bool

    public init(_ item: Item, policy: WritePolicy, isLast: Bool) {
        (self.item, self.policy, self.isLast) = (item, policy, isLast)
    }

    /// - Parameter showsTheSame: whether nothing that an app could see is different from what the item was made of.
    public func outcome(over present: WritePresent, showsTheSame: () -> Bool) -> Outcome {
        switch (item, present) {
        case (.save(let wasStored, _), .gone):
            if wasStored { return .deleted }
            return isLast ? .keepsChanging : .makesAgain
        case (.save, .record):
            guard !isLast else { return .changed }
            return merges || showsTheSame() ? .merges : .changed
        case (.save(_, let recordType), .unopened(_, let present)):
            guard policy == .allKeys, !isLast else { return .unopened }
            return recordType == present ? .replaces : .otherType
        case (.deletion, .gone): return .isGone
        case (.deletion, _): return isLast ? .keepsChanging : .deletesNewest
        }
    }

    private var merges: Bool { policy == .changedKeys || policy == .allKeys }

    /// What an answer is found out by, whatever the policy: nil where nothing speaks against it.
    public enum Objection: Sendable, Equatable {
        /// The server shows what it says is not there.
        case hidden
        /// It has other values than those that were to be sealed again: somebody else has written them, under a key of
        /// their own.
        case written
    }

    /// - Parameters:
    ///   - present: nil where what there is could not be verified.
    ///   - last: the hash of what the item's statement follows.
    ///   - isDenied: the server says that there is no such record.
    ///   - isRekeying: the item's values stay as they are.
    public static func objection(
        to present: WritePresent?, after last: Digest?, isDenied: Bool, isRekeying: Bool
    ) -> Objection? {
        let isSame = present.map { $0.isThere && $0.hash == last } ?? false
        if isDenied, isSame { return .hidden }
        // The save of a child gives a record another change tag, and leaves it under its key.
        return isRekeying && !isSame ? .written : nil
    }
}

/// What of a record that the app gave goes into another version: it starts from what the app gave each time, for what
/// that was merged into before is no intention of the app's.
public struct WriteMerge: Sendable {
    public enum Field: Sendable {
        /// - Parameter isAtHand: it was asked for.
        case present(isAtHand: Bool)
        case absent
    }

    private let takesAll: Bool

    public init(_ policy: WritePolicy) { takesAll = policy == .allKeys }

    /// Whether a field of the given record is put into the other version, or taken out of that where it has none.
    public func takes(_ field: Field, isChanged: Bool) -> Bool {
        switch field {
        case .present(isAtHand: false): false
        case .present: takesAll || isChanged
        case .absent: isChanged
        }
    }

    /// Of parent and share: they are taken over where the app has set others than its copy had.
    public static func takes(_ given: String?, over copied: String?) -> Bool { given != copied }
}
