/// What restrains those who lengthen rosters.
package struct RosterCounts {
    package let limits: AbuseLimits
    package let counted: CountedCall.Run
    package let quotas: Quotas

    package init(limits: AbuseLimits, counted: CountedCall.Run, quotas: Quotas) {
        self.limits = limits
        self.counted = counted
        self.quotas = quotas
    }
}
