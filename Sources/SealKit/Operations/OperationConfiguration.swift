public import Foundation

/// How long a call may take and how hard it tries: CloudKit's `CKOperation.Configuration`.
///
/// Not taken over: `isLongLived` and `allowsCellularAccess`. What is to outlive its process is begun as such
/// (<doc:LongLived>). Which network a call goes over is the system's to decide.
public struct OperationConfiguration: Sendable, Hashable {
    /// Who waits for the result.
    ///
    /// - `userInteractive`, `userInitiated` and `default`: somebody waits. A server that cannot be reached is tried for
    ///   about a second; a part of a file that is on its way, and what fails there or back, for about a minute.
    /// - `utility` and `background`: nobody does. The call waits for network and server until
    ///   `timeoutIntervalForResource`.
    public var qualityOfService: QualityOfService
    /// Longest time without any progress, in seconds.
    public var timeoutIntervalForRequest: TimeInterval
    /// Longest time for one request from its first attempt to its answer, in seconds, with all repetitions.
    public var timeoutIntervalForResource: TimeInterval

    /// - Parameters: CloudKit's defaults; a minute without progress, a week in all.
    public init(
        qualityOfService: QualityOfService = .default, timeoutIntervalForRequest: TimeInterval = 60,
        timeoutIntervalForResource: TimeInterval = 7 * 86_400
    ) {
        self.qualityOfService = qualityOfService
        self.timeoutIntervalForRequest = timeoutIntervalForRequest
        self.timeoutIntervalForResource = timeoutIntervalForResource
    }

    /// CloudKit's rule: whoever has a person waiting gives up after a minute.
    private static let personsPatience: TimeInterval = 60

    var waitsForNetwork: Bool { qualityOfService == .utility || qualityOfService == .background }

    /// How long after its start a call may be repeated.
    var patience: Duration {
        .seconds(waitsForNetwork ? timeoutIntervalForResource : min(timeoutIntervalForResource, Self.personsPatience))
    }

    /// - Throws: `invalidArguments` unless both times are between a millisecond and ten years.
    func check() throws(SealKitError) {
        for interval in [timeoutIntervalForRequest, timeoutIntervalForResource] where !(0.001...315_360_000 ~= interval)
        {
            throw SealKitError(
                .invalidArguments, "a time-out of \(interval) seconds cannot be kept",
                remedy: "give both time-outs between a millisecond and ten years")
        }
    }
}
