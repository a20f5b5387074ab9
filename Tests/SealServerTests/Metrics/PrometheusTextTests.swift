import CoreMetrics
import Foundation
import Testing

@testable import SealServer
@testable import SealStorage

/// The format that Prometheus reads: https://prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4.
@Suite(.timeLimit(.minutes(60))) struct PrometheusTextTests {
    let registry = MetricsRegistry()
    var metrics: ServerMetrics { ServerMetrics(factory: registry) }

    @Test func countersGaugesAndHistogramsAreWrittenAsTheFormatSays() {
        let metrics = metrics
        for _ in 0..<3 { metrics.count(.requests, "limits", "200") }
        metrics.count(.requests, "unknown", "404")
        metrics.record(.jobLastDone, "sweep", value: 1_700_000_000)
        for size in [1.0, 2, 3, 300] { metrics.record(.groupWrites, value: size) }
        #expect(
            PrometheusText.write(registry) == """
                # HELP sealkit_job_last_done_timestamp_seconds When the job was last done, in seconds since 1970.
                # TYPE sealkit_job_last_done_timestamp_seconds gauge
                sealkit_job_last_done_timestamp_seconds{job="sweep"} 1700000000
                # HELP sealkit_requests_total Requests that were answered, by endpoint and HTTP status.
                # TYPE sealkit_requests_total counter
                sealkit_requests_total{endpoint="limits",status="200"} 3
                sealkit_requests_total{endpoint="unknown",status="404"} 1
                # HELP sealkit_storage_group_writes Transactions in one commit.
                # TYPE sealkit_storage_group_writes histogram
                sealkit_storage_group_writes_bucket{le="1"} 1
                sealkit_storage_group_writes_bucket{le="2"} 2
                sealkit_storage_group_writes_bucket{le="4"} 3
                sealkit_storage_group_writes_bucket{le="8"} 3
                sealkit_storage_group_writes_bucket{le="16"} 3
                sealkit_storage_group_writes_bucket{le="32"} 3
                sealkit_storage_group_writes_bucket{le="64"} 3
                sealkit_storage_group_writes_bucket{le="128"} 3
                sealkit_storage_group_writes_bucket{le="256"} 3
                sealkit_storage_group_writes_bucket{le="+Inf"} 4
                sealkit_storage_group_writes_sum 306
                sealkit_storage_group_writes_count 4

                """)
    }

    @Test func timesAreInSeconds() {
        metrics.time(.commitSeconds, microseconds: 1_500_000)
        let text = PrometheusText.write(registry)
        #expect(text.contains("sealkit_storage_commit_seconds_sum 1.5\n"))
        #expect(text.contains("sealkit_storage_commit_seconds_bucket{le=\"1\"} 0\n"))
        #expect(text.contains("sealkit_storage_commit_seconds_bucket{le=\"2.5\"} 1\n"))
    }

    /// No value of a label is a client's; should one be, it cannot make lines of its own.
    @Test func aLabelCannotMakeALine() {
        metrics.count(.failures, "a\"} 1\r\nevil{x=\"\\\n")
        let lines = PrometheusText.write(registry).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.last == "sealkit_failures_total{code=\"a\\\"} 1\r\\nevil{x=\\\"\\\\\\n\"} 1")
        #expect(PrometheusText.escapeHelp("a\\b\n\"c\"") == "a\\\\b\\n\"c\"")
    }

    @Test func numbersAreWrittenAsTheFormatHasThem() {
        let written = [0, 1, -2.5, .infinity, -.infinity, .nan, 1e300].map(PrometheusText.number)
        #expect(written == ["0", "1", "-2.5", "+Inf", "-Inf", "NaN", "1e+300"])
    }

    /// What is no metric of the server's is not kept, and of one there are not without end.
    @Test func whatIsKeptIsBounded() {
        let metrics = metrics
        for number in 0..<(2 * ServerMetrics.mostSeries) { metrics.count(.failures, "\(number)") }
        #expect(registry.all().count == ServerMetrics.mostSeries)
        let other = MetricsRegistry()
        other.makeCounter(label: "somebody_elses", dimensions: []).increment(by: 1)
        other.makeCounter(label: ServerMetric.requests.rawValue, dimensions: [("user", "anna")]).increment(by: 1)
        #expect(other.all().isEmpty)
    }

    @Test func everyMetricSaysWhatItIs() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("Sources/SealServer/Documentation.docc/Metrics.md"), encoding: .utf8
        )
        for metric in ServerMetric.allCases {
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            #expect(
                page.contains("| `\(metric.rawValue)` | \(metric.kind.rawValue) | \(labels) | \(metric.help) |"),
                "\(metric.rawValue)")
            #expect(metric.help.hasSuffix("."))
            #expect(!metric.help.contains("\n"))
            #expect(metric.rawValue.hasPrefix("sealkit_"))
            #expect(metric.rawValue.hasSuffix("_total") == (metric.kind == .counter), "\(metric.rawValue)")
            #expect(metric.buckets == metric.buckets.sorted())
            let name = /[a-z][a-z0-9_]+/
            #expect(metric.rawValue.wholeMatch(of: name) != nil)
            #expect(metric.labels.allSatisfy { $0.wholeMatch(of: name) != nil })
        }
    }
}
