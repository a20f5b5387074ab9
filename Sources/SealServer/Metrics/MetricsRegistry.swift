import CoreMetrics
import SealStorage
import Synchronization

/// Keeps the values of metrics, for `PrometheusText` to write down: a factory of swift-metrics.
final class MetricsRegistry: MetricsFactory {
    private struct Key: Hashable {
        let metric: ServerMetric
        let values: [String]
    }

    private let series = Mutex<[Key: MetricSeries]>([:])

    /// All there are, by metric and then by label.
    func all() -> [(metric: ServerMetric, values: [String], series: MetricSeries.Value)] {
        series.withLock { $0 }.map { ($0.key.metric, $0.key.values, $0.value.value) }.sorted { first, second in
            first.metric.rawValue == second.metric.rawValue
                ? first.values.lexicographicallyPrecedes(second.values) : first.metric.rawValue < second.metric.rawValue
        }
    }

    /// Nil for what is none of the server's metrics, or one too many.
    private func find(_ label: String, _ dimensions: [(String, String)]) -> MetricSeries? {
        guard let metric = ServerMetric(rawValue: label), dimensions.map(\.0) == metric.labels else { return nil }
        let key = Key(metric: metric, values: dimensions.map(\.1))
        return series.withLock { series in
            if let known = series[key] { return known }
            guard series.count < ServerMetrics.mostSeries else { return nil }
            let made = MetricSeries(bounds: metric.kind == .histogram ? metric.buckets : [])
            series[key] = made
            return made
        }
    }

    // MARK: MetricsFactory

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        find(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        find(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        find(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    // They live as long as the registry: a counter that began again would look like a server that did.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

/// One metric with one value of each label: a counter, a gauge or a histogram, as it is used.
final class MetricSeries: CounterHandler, RecorderHandler, TimerHandler {
    struct Value: Sendable {
        /// A counter's or gauge's.
        var number = 0.0
        /// A histogram's upper bounds, and how many values lie in each bucket and above them all.
        var bounds: [Double]
        var counts: [UInt64]
        var sum = 0.0
    }

    private let state: Mutex<Value>

    init(bounds: [Double]) {
        state = Mutex(Value(bounds: bounds, counts: bounds.isEmpty ? [] : Array(repeating: 0, count: bounds.count + 1)))
    }

    var value: Value { state.withLock { $0 } }

    func increment(by amount: Int64) { state.withLock { $0.number += Double(amount) } }

    func reset() { state.withLock { $0.number = 0 } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        state.withLock { state in
            guard !state.bounds.isEmpty else {
                state.number = value
                return
            }
            state.counts[state.bounds.firstIndex { value <= $0 } ?? state.bounds.count] += 1
            state.sum += value
        }
    }

    /// Prometheus counts time in seconds.
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
}
