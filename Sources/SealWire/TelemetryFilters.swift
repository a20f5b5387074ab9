import SwiftProtobuf

extension [Sealkit_V1_TelemetryFilter] {
    /// In an order that the words' own does not change: equal filters are equal messages.
    /// - Parameter words: by what telemetry is told apart by.
    public init<Dimension: RawRepresentable<String> & Hashable>(_ words: [Dimension: String]) {
        self = words.sorted { $0.key.rawValue < $1.key.rawValue }.map { dimension, word in
            .with { ($0.dimension, $0.word) = (dimension.rawValue, word) }
        }
    }
}
