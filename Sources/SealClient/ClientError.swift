public import SealPrimitives
public import SealStatements

/// Why a client does not believe, or does not do, what it was asked to: flat, and without anything secret, as
/// `SealError` is.
public enum ClientError: Error, Sendable, Equatable {
    /// The core refuses it.
    case invalid(SealError)

    // Rosters
    /// There is no such scope, as far as anybody has shown.
    case unknownScope
    /// Another roster is shown than the one that was verified up to this head; nil where another device verified it.
    case forked(from: RosterChange.AbandonedHead?)
    /// An older roster is shown than was verified.
    case shortened
    /// The server had lost the newest entries of the roster, and has them back: what it answered before was made
    /// without them.
    case mended
    /// A roster, or what goes with it, is said to go on, and nothing more of it comes.
    case endless
    /// An answer does not say where its roster ends.
    case unknownEnd

    // Reading
    /// A statement cites an entry of its roster that is not known here: it may be newer than what is.
    case unknownHead
    /// More is said to come, and what comes was there before, or is nothing.
    case circle

    // One's own keys
    /// Another device has given the account newer keys than this one has.
    case keysReplaced
    /// The roster has keys of this account that none of its devices has made.
    case foreignKeys

    // Ending a fork
    /// The roster is not forked, as far as is known here.
    case notForked
    /// The head that is to be given up is in the log that stays.
    case notAbandonable
    /// Another branch was verified here than the one that is to be given up.
    case yetAnotherBranch
}

extension ClientError {
    /// What the core refuses; nil where that did not decide.
    public var reason: SealError? {
        switch self {
        case .invalid(let reason): reason
        case .unknownHead: .unknownRosterHead
        default: nil
        }
    }
}
