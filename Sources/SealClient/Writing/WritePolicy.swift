/// What is to happen where somebody else has saved a record meanwhile.
public enum WritePolicy: Sendable {
    /// The app is told.
    case ifUnchanged
    /// What was changed here goes into what there is.
    case changedKeys
    /// All that is here goes into what there is.
    case allKeys
    /// What a server has lost is saved again over the older version; for what it has not lost, as `ifUnchanged`.
    case restoring
}
