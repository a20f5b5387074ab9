public import SealPrimitives
public import SealStatements
public import SealWire
import SwiftProtobuf

import struct Foundation.Data

extension Value {
    /// - Throws: `malformed` for an absent or unknown kind, a list of mixed kinds, a list in a list, and a date that is
    ///   not finite or is a negative zero.
    public init(_ wire: Sealkit_V1_Value) throws(SealError) {
        switch wire.kind {
        case .string(let text): self = .string(text)
        case .data(let data): self = .data([UInt8](data))
        case .int64(let number): self = .int64(number)
        case .double(let number): self = .double(number)
        case .date(let seconds): self = .date(try Value.canonicalSeconds(seconds))
        case .location(let place):
            self = .location(
                Location(
                    latitude: place.latitude, longitude: place.longitude, altitude: place.altitude,
                    horizontalAccuracy: place.horizontalAccuracy, verticalAccuracy: place.verticalAccuracy,
                    course: place.course, speed: place.speed, time: try Value.canonicalSeconds(place.timestamp)))
        case .reference(let reference):
            self = .reference(try ReferenceValue(inMessage: reference.recordName, action: reference.action))
        case .list(let list):
            self = try Value(listInMessage: list.values) { element throws(SealError) in
                if case .list = element.kind { throw .malformed }
                return try Value(element)
            }
        case nil: throw .malformed
        }
    }

    public var wire: Sealkit_V1_Value {
        var wire = Sealkit_V1_Value()
        switch self {
        case .string(let text): wire.string = text
        case .data(let bytes): wire.data = Data(bytes)
        case .int64(let number): wire.int64 = number
        case .double(let number): wire.double = number
        case .date(let seconds): wire.date = seconds == 0 ? 0 : seconds
        case .location(let place):
            wire.location = .with {
                $0.latitude = place.latitude
                $0.longitude = place.longitude
                $0.altitude = place.altitude
                $0.horizontalAccuracy = place.horizontalAccuracy
                $0.verticalAccuracy = place.verticalAccuracy
                $0.course = place.course
                $0.speed = place.speed
                $0.timestamp = place.time == 0 ? 0 : place.time
            }
        case .reference(let reference):
            wire.reference = .with {
                $0.recordName = reference.recordName
                $0.action = UInt32(reference.action.rawValue)
            }
        case .list(let elements): wire.list = .with { $0.values = elements.map(\.wire) }
        }
        return wire
    }
}
