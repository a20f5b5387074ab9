/// What becomes of a record in a feed's page that is not believed.
public enum FeedDisbelief: Sendable {
    /// It is told as one that is not believed; the app keeps what it had.
    case told
    /// It is held back until it is where its parent is, and told then.
    case heldBack
    /// Nothing of the page counts: a deletion that does not hold must not be applied, nor passed over.
    case refusesPage

    /// - Parameters:
    ///   - isHeldBack: it is good in itself, and out of its place.
    ///   - isRollback: this device knows better.
    package init(of shown: some ShownRecord, isHeldBack: Bool, isRollback: Bool) {
        if !shown.deleted {
            self = isHeldBack ? .heldBack : .told
        } else {
            // One that is said to have gone with another, where this device knows better, stays: it is reported.
            self = shown.isDerived && isRollback ? .told : .refusesPage
        }
    }
}
