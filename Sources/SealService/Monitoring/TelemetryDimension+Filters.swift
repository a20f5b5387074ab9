package import SealStorage
package import SealWire

extension TelemetryDimension {
    package static let words = "Use each once: \(allCases.map(\.rawValue).joined(separator: ", "))."

    /// - Throws: `invalidArguments` for what is none, and for one that is there twice.
    package static func filters(
        _ given: [Sealkit_V1_TelemetryFilter]
    ) throws(ServerError) -> [TelemetryDimension: String] {
        var filters: [TelemetryDimension: String] = [:]
        for filter in given {
            guard let dimension = TelemetryDimension(rawValue: filter.dimension), filters[dimension] == nil else {
                throw ServerError(
                    .invalidArguments, "A filter names what telemetry is not told apart by, or is there twice.",
                    remedy: words)
            }
            filters[dimension] = filter.word
        }
        return filters
    }
}
