/// What this device makes of a sighting.
public enum Verdict: Sendable, Equatable {
    case accepted
    /// The deletion of a record that this device has never seen, under an epoch that it has read past, or that a record
    /// left a share before it was seen where this account may not read any more. It takes nothing.
    case unknownDeletion
    case older
    /// It is older than what this device has come to know of the record since it asked.
    case overtaken
    /// It is in another scope than before, and its owner did not move it there.
    case misplaced
    /// It is of another type than before, or somebody else's work.
    case changed
    /// It cites an older head of its scope's roster than what was seen of it.
    case behind
    case forked
    case backdated
}
