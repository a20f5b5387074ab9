/// Everything that the core can refuse, flat and without data: a reason never says more than its name, so that no
/// error text can carry a secret or tell an attacker which of two secrets was wrong. The raw value is the case's name.
public enum SealError: String, Error, Sendable, Equatable {
    // Bytes
    /// The bytes are not the one valid encoding of what was expected.
    case malformed
    /// A length is outside the documented limits.
    case invalidLength
    /// A name has characters or a length that the protocol does not allow.
    case invalidName
    /// The format or change kind is one that this version does not read.
    case unsupported

    // Primitives
    /// A ciphertext does not open: wrong key, wrong context, or altered bytes. The three look alike on purpose.
    case authenticationFailed
    /// A public key is malformed, not canonical, or of small order.
    case invalidKey
    /// A signature does not verify.
    case invalidSignature
    /// Password parameters are below the compiled-in floor; nothing was derived.
    case weakParameters
    /// Memory for Argon2id could not be had.
    case outOfMemory

    // Statements
    /// A Merkle path does not lead to the signed root.
    case invalidProof
    /// A field's bytes, or the set of fields, differ from what the author signed.
    case fieldMismatch
    /// The statement is about another record, zone, owner, environment or container.
    case wrongContext
    /// The statement was made under an epoch that was not in force at the roster head it cites.
    case staleEpoch
    /// The author had no right to write at the roster head it cites.
    case authorNotPermitted
    /// The statement cites a roster head that this roster does not have.
    case unknownRosterHead
    /// The statement does not continue the one before: revision, hash, type, creator or scope do not follow.
    case notSuccessor
    /// A record is said to go, or to have gone, with the target of its reference, and nothing that was signed says so.
    case invalidNotice

    // Rosters
    /// The entry does not follow the roster's head.
    case notNextEntry
    /// The entry's author may not make this change.
    case changeNotPermitted
    /// The change contradicts the roster's state (unknown member, used invitation, closed scope, …).
    case changeNotApplicable
    /// A change that takes a right away came without a new epoch, or an epoch came where none may be opened.
    case epochRequired
    /// While whoever has the URL may join, a participant is removed or blocked only together with a new URL.
    case renewalRequired
    /// An epoch's grants do not cover exactly the active members and open invitations.
    case coverageMismatch
    /// An identity chain does not hold together or names somebody else.
    case invalidIdentity
    /// A scope holds as many participants as it may.
    case tooManyParticipants

    // Envelope
    /// An opened key is not the one that the roster commits to.
    case keyMismatch
    /// No key for the epoch is at hand.
    case missingKey
    /// A share URL is cut short or altered, or names another share.
    case invalidURL
    /// The recovery key has a typing error.
    case mistypedRecoveryKey
}
