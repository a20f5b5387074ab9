/// What restrains those who lengthen rosters.
package struct RosterCounts {
    package let limits: AbuseLimits
    package let counting: CountedCall.Run
    package let quotas: Quotas

    package init(limits: AbuseLimits, counting: CountedCall.Run, quotas: Quotas) {
        self.limits = limits
        self.counting = counting
        self.quotas = quotas
    }
}
