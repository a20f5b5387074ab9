package import CoreMetrics
import Synchronization

/// Where the server's parts note what they do. It goes to a factory of swift-metrics that the server was given, not to
/// the process's: several servers in one process do not count together.
package final class ServerMetrics: Sendable {
    /// What a label's value may be is known, so there are never that many; whatever made more of them would fill the
    /// memory.
    package static let mostSeries = 4_096

    /// Notes nothing.
    package static let off = ServerMetrics(factory: nil)

    private struct Key: Hashable {
        let metric: ServerMetric
        let values: [String]
    }

    /// Made when they are first used, and kept: looking one up costs less than making it.
    private struct Made {
        var counters: [Key: Counter] = [:]
        var timers: [Key: CoreMetrics.Timer] = [:]
        var recorders: [Key: Recorder] = [:]
    }

    private let factory: (any MetricsFactory)?
    private let made = Mutex(Made())
    private let observed = Mutex<[(metrics: [ServerMetric], read: @Sendable () -> [Int])]>([])

    package init(factory: (any MetricsFactory)?) { self.factory = factory }

    /// Notes everything with each of them.
    package convenience init(factories: [any MetricsFactory]) {
        self.init(factory: factories.count > 1 ? MultiplexMetricsHandler(factories: factories) : factories.first)
    }

    package var isOn: Bool { factory != nil }

    package func count(_ metric: ServerMetric, _ values: String..., by amount: Int = 1) {
        guard let factory else { return }
        let key = Key(metric: metric, values: values)
        let counter = made.withLock { made -> Counter? in
            if let known = made.counters[key] { return known }
            guard made.counters.count < Self.mostSeries else { return nil }
            let counter = Counter(label: metric.rawValue, dimensions: Self.dimensions(key), factory: factory)
            made.counters[key] = counter
            return counter
        }
        counter?.increment(by: amount)
    }

    package func time(_ metric: ServerMetric, _ values: String..., microseconds: Int64) {
        guard let factory else { return }
        let key = Key(metric: metric, values: values)
        let timer = made.withLock { made -> CoreMetrics.Timer? in
            if let known = made.timers[key] { return known }
            guard made.timers.count < Self.mostSeries else { return nil }
            let timer = CoreMetrics.Timer(label: metric.rawValue, dimensions: Self.dimensions(key), factory: factory)
            made.timers[key] = timer
            return timer
        }
        timer?.recordMicroseconds(max(0, microseconds))
    }

    /// Of a histogram one more value, of a gauge the new one.
    package func record(_ metric: ServerMetric, _ values: String..., value: Double) {
        guard let factory else { return }
        let key = Key(metric: metric, values: values)
        let recorder = made.withLock { made -> Recorder? in
            if let known = made.recorders[key] { return known }
            guard made.recorders.count < Self.mostSeries else { return nil }
            let recorder = Recorder(
                label: metric.rawValue, dimensions: Self.dimensions(key), aggregate: metric.kind == .histogram,
                factory: factory)
            made.recorders[key] = recorder
            return recorder
        }
        recorder?.record(value)
    }

    /// A gauge without labels, which is asked whenever somebody wants to know.
    package func observe(_ metric: ServerMetric, _ read: @escaping @Sendable () -> Int) {
        observe([metric]) { [read()] }
    }

    /// Several that come of one look.
    /// - Parameter read: a value for each, in their order.
    package func observe(_ metrics: [ServerMetric], _ read: @escaping @Sendable () -> [Int]) {
        guard isOn else { return }
        observed.withLock { $0.append((metrics, read)) }
    }

    /// Asks all gauges that are asked.
    package func collect() {
        for (metrics, read) in observed.withLock({ $0 }) {
            for (metric, value) in zip(metrics, read()) { record(metric, value: Double(value)) }
        }
    }

    private static func dimensions(_ key: Key) -> [(String, String)] { Array(zip(key.metric.labels, key.values)) }
}
