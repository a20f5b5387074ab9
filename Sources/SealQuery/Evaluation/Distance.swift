import Foundation
import SealStatements

/// Distances on the earth, taken as a sphere.
public enum Distance {
    /// The mean radius, in metres.
    static let radius = 6_371_008.8
    /// No place is farther away than this.
    public static let farthest = radius * .pi

    /// Metres between two places in degrees, along the great circle.
    public static func metres(
        _ latitude: Double, _ longitude: Double, _ otherLatitude: Double, _ otherLongitude: Double
    ) -> Double {
        let from = latitude * .pi / 180
        let to = otherLatitude * .pi / 180
        let north = sin((to - from) / 2)
        let east = sin((otherLongitude - longitude) * .pi / 360)
        let haversine = north * north + cos(from) * cos(to) * east * east
        return 2 * radius * asin(min(1, haversine.squareRoot()))
    }
}

extension Query.Subject {
    /// How far away the place in a field is; nil where there is none, or none on the earth.
    func metres(_ key: String, from other: Location) -> Double? {
        guard case .location(let place)? = value(key), Cells.cell(place.latitude, place.longitude) != nil else {
            return nil
        }
        return Distance.metres(other.latitude, other.longitude, place.latitude, place.longitude)
    }
}
