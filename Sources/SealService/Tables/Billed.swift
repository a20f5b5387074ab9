/// Whether an account is billed for rows that are kept for it.
enum Billed: Sendable {
    /// Every row counts.
    case rows(Billing)
    /// No row does.
    /// - Parameter why: that is no way to fill a disk.
    case free(_ why: String)
}
