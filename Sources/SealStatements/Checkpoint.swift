public import SealPrimitives

/// A digest that statements and epochs name, signed with the rest of them: the place for a checkpoint of what its
/// author had read by then. There are none yet, and no rule looks at the value.
public enum Checkpoint {
    /// What stands where no checkpoint is named.
    public static let none = Digest.zero
}
