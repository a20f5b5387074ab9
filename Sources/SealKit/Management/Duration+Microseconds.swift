extension Duration {
    /// Whole ones, from none to as many as there are numbers for.
    package var clampedMicroseconds: UInt64 {
        let (seconds, attoseconds) = components
        let (whole, isMore) = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000)
        let (all, isStillMore) = whole.addingReportingOverflow(UInt64(clamping: attoseconds / 1_000_000_000_000))
        return isMore || isStillMore ? .max : all
    }
}
