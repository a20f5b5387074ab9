public import Foundation

public typealias CLLocationDegrees = Double
public typealias CLLocationDistance = Double
public typealias CLLocationAccuracy = Double
public typealias CLLocationDirection = Double
public typealias CLLocationSpeed = Double

/// Degrees of latitude and longitude.
public struct CLLocationCoordinate2D: Sendable {
    public var latitude: CLLocationDegrees
    public var longitude: CLLocationDegrees

    public init() { (latitude, longitude) = (0, 0) }

    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A place, which on Apple's platforms comes along with CloudKit: here it is a value of records, and measures nothing.
public final class CLLocation: NSObject, NSSecureCoding, NSCopying, Sendable {
    public let coordinate: CLLocationCoordinate2D
    /// Metres.
    public let altitude: CLLocationDistance
    /// Metres; negative where coordinates are not known.
    public let horizontalAccuracy: CLLocationAccuracy
    /// Metres; negative where the altitude is not known.
    public let verticalAccuracy: CLLocationAccuracy
    /// Degrees from north; negative where it is not known.
    public let course: CLLocationDirection
    /// Metres a second; negative where it is not known.
    public let speed: CLLocationSpeed
    public let timestamp: Date

    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
            horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
    }

    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, timestamp: Date
    ) {
        self.init(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, course: -1, speed: -1, timestamp: timestamp)
    }

    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed, timestamp: Date
    ) {
        self.coordinate = coordinate
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestamp = timestamp
    }

    public static var supportsSecureCoding: Bool { true }

    public required convenience init?(coder: NSCoder) {
        let keys = Key.allCases.map(\.rawValue)
        guard keys.allSatisfy(coder.containsValue) else { return nil }
        let numbers = keys.map(coder.decodeDouble)
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1]), altitude: numbers[2],
            horizontalAccuracy: numbers[3], verticalAccuracy: numbers[4], course: numbers[5], speed: numbers[6],
            timestamp: Date(timeIntervalSinceReferenceDate: numbers[7]))
    }

    public func encode(with coder: NSCoder) {
        for (key, number) in zip(Key.allCases, numbers) { coder.encode(number, forKey: key.rawValue) }
    }

    private enum Key: String, CaseIterable {
        case latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed, timestamp
    }

    private var numbers: [Double] {
        [
            coordinate.latitude, coordinate.longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed,
            timestamp.timeIntervalSinceReferenceDate,
        ]
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CLLocation)?.numbers == numbers }
    public override var hash: Int { numbers.hashValue }
    public override var description: String { "<\(coordinate.latitude),\(coordinate.longitude)>" }

    /// Metres to another place, over the ground, on a globe of the earth's mean radius.
    public func distance(from location: CLLocation) -> CLLocationDistance {
        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        let (one, other) = (coordinate, location.coordinate)
        let (north, east) = (
            sin(radians(other.latitude - one.latitude) / 2), sin(radians(other.longitude - one.longitude) / 2)
        )
        let part = north * north + cos(radians(one.latitude)) * cos(radians(other.latitude)) * east * east
        return 2 * 6_371_008.8 * asin(min(1, part.squareRoot()))
    }
}
