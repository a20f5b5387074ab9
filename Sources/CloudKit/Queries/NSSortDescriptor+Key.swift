public import Foundation
import SealKit

/// What makes sort descriptors by a field's name possible, which Foundation on this platform has no initializers for.
public protocol CKSortingByKey {}

extension NSSortDescriptor: CKSortingByKey {}

extension CKSortingByKey where Self: NSSortDescriptor {
    public init(key: String?, ascending: Bool) {
        // A class's initializer in a protocol's extension may give another object.
        guard let descriptor = KeySortDescriptor(key ?? "", ascending: ascending) as? Self else {
            preconditionFailure("\(Self.self) sorts by no key: use NSSortDescriptor(key:ascending:)")
        }
        self = descriptor
    }

    /// The field's name.
    public var key: String? { (self as? KeySortDescriptor)?.name }
}

class KeySortDescriptor: NSSortDescriptor {
    let name: String

    init(_ name: String, ascending: Bool) {
        self.name = name
        super.init(keyPath: \NSObject.hash, ascending: ascending)
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeySortDescriptor else { return false }
        return other.name == name && other.ascending == ascending
    }

    override var hash: Int { name.hashValue }

    var sealed: SealKit.Query.SortDescriptor { SealKit.Query.SortDescriptor(key: name, ascending: ascending) }
}

/// Nearest first.
public final class CKLocationSortDescriptor: NSSortDescriptor {
    let name: String
    public let relativeLocation: CLLocation

    public init(key: String, relativeLocation: CLLocation) {
        name = key
        self.relativeLocation = relativeLocation
        super.init(keyPath: \NSObject.hash, ascending: true)
    }

    public override func copy(with zone: NSZone? = nil) -> Any { self }

    var sealed: SealKit.Query.SortDescriptor {
        let place = relativeLocation.coordinate
        return SealKit.Query.SortDescriptor(
            key: name,
            relativeLocation: Location(
                latitude: place.latitude, longitude: place.longitude, timestamp: relativeLocation.timestamp))
    }
}

extension SealKit.Query.SortDescriptor {
    /// - Throws: `invalidArguments` for an order by a key path or a comparator.
    init(_ descriptor: NSSortDescriptor) throws(SealKitError) {
        switch descriptor {
        case let byKey as KeySortDescriptor: self = byKey.sealed
        case let byPlace as CKLocationSortDescriptor: self = byPlace.sealed
        default:
            throw SealKitError(
                .invalidArguments, "a server cannot sort by a key path or a comparator",
                remedy: "use NSSortDescriptor(key:ascending:) with a field's name")
        }
    }
}
