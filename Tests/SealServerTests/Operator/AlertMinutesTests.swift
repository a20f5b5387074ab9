import Testing

@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct AlertMinutesTests {
    /// Alerts that look at the same minutes of the same requests read them once, and others their own.
    @Test func theSameMinutesAreReadOnce() async throws {
        var (minutes, reads) = (AlertMinutes(now: 3_659), 0)
        let questions: [(UInt32, [TelemetryDimension: String])] = [
            (5, [:]), (5, [:]), (6, [:]), (5, [.container: "a"]), (5, [.container: "a"]), (5, [.group: "a"]),
        ]
        for (length, filters) in questions {
            _ = try await minutes.total(length, filters) {
                reads += 1
                return TelemetrySeries.Part()
            }
        }
        #expect(reads == 4)
        // Whole minutes: the one that has not ended is not among them.
        #expect(minutes.end == 3_600)
        #expect(minutes.start(of: 5) == 3_300)
    }
}
