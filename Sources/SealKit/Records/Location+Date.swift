public import Foundation
public import SealStatements

extension Location {
    /// When it was measured. Kept as the number that a `Date` is: the same date comes back.
    public var timestamp: Date {
        get { Date(timeIntervalSinceReferenceDate: time) }
        set { time = newValue.timeIntervalSinceReferenceDate }
    }

    /// - Parameters: as of CloudKit's `CLLocation`: degrees, metres, metres a second; negative where not known.
    public init(
        latitude: Double, longitude: Double, altitude: Double = 0, horizontalAccuracy: Double = 0,
        verticalAccuracy: Double = -1, course: Double = -1, speed: Double = -1, timestamp: Date
    ) {
        self.init(
            latitude: latitude, longitude: longitude, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, course: course, speed: speed,
            time: timestamp.timeIntervalSinceReferenceDate)
    }
}
