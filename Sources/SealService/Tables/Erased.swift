/// How rows go when the account or the zone ends that they are of. Those of one kind go in the reverse of the order in
/// which the tables are made: what refers to others before these.
enum Erased: Sendable {
    /// At once, when the account is closed.
    case atClosing
    /// With what the life of their zone held, and with its owner's account.
    case withZone(Removal)
    /// With the account or the user whose they are.
    case withAccount
    /// With the user who sees by them what zones there are: after all that is the user's own.
    case withSight
    /// With the account of their zone's owner, where nobody else has seen the zone; last of all.
    case unlessSeen
    /// By statements of their own.
    /// - Parameter how: where, or why.
    case apart(_ how: String)
    /// They stay.
    case kept(_ why: String)
}
