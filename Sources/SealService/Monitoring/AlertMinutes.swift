import SealStorage

/// The last minutes, as alerts that are looked at together read them: those that look at the same requests for as long
/// read them once. What a look costs grows with what is asked for, and not with how many alerts ask for it.
package struct AlertMinutes {
    private struct Key: Hashable {
        let minutes: UInt32
        let filters: [TelemetryDimension: String]
    }

    /// Of the last whole minute, in seconds since 1970.
    let end: Int64
    private var known: [Key: TelemetrySeries.Part] = [:]

    /// - Parameter now: seconds since 1970.
    package init(now: Int64) { end = TelemetryFile.Step.minute.start(of: now) }

    /// Of the first of the last so many, in seconds since 1970.
    package func start(of minutes: UInt32) -> Int64 { end - Int64(minutes) * TelemetryFile.Step.minute.rawValue }

    /// - Parameter read: gets them.
    mutating func total(
        _ minutes: UInt32, _ filters: [TelemetryDimension: String], _ read: () async throws -> TelemetrySeries.Part
    ) async throws -> TelemetrySeries.Part {
        let key = Key(minutes: minutes, filters: filters)
        if let known = known[key] { return known }
        let total = try await read()
        known[key] = total
        return total
    }
}
