import Foundation
import SealKit

/// Why an object cannot be a field's value. It is told when the record is saved, since setting a field throws nothing.
struct Refusal: Error, Sendable {
    let reason: String
    let remedy: String

    static let noValue = Refusal(
        reason: "is of a class that is no value of a record",
        remedy: "use strings, data, dates, numbers, locations, references, assets, or arrays of one of them")

    func error(_ key: String) -> SealKitError {
        SealKitError(.invalidArguments, "the value of \(key) \(reason)", remedy: remedy)
    }
}

/// What turns itself into a field's content.
protocol RecordContent {
    /// - Parameter zoneID: of the record that gets it.
    func content(in zoneID: SealKit.RecordZone.ID) throws(Refusal) -> SealKit.Record.Content
}

/// What lies in the record itself, and so in lists too.
protocol InlineContent: RecordContent {
    func inline(in zoneID: SealKit.RecordZone.ID) throws(Refusal) -> RecordValue
}

extension InlineContent {
    func content(in zoneID: SealKit.RecordZone.ID) throws(Refusal) -> SealKit.Record.Content {
        .value(try inline(in: zoneID))
    }
}

extension SealKit.Record.Content {
    /// - Parameter object: what an app set.
    init(_ object: Any, in zoneID: SealKit.RecordZone.ID) throws(Refusal) {
        if let value = object as? any RecordContent {
            self = try value.content(in: zoneID)
        } else if let list = object as? [Any] {
            self = .value(try RecordValue(list: list, in: zoneID))
        } else {
            throw .noValue
        }
    }
}

extension RecordValue {
    init(list: [Any], in zoneID: SealKit.RecordZone.ID) throws(Refusal) {
        var values: [RecordValue] = []
        values.reserveCapacity(list.count)
        for element in list {
            guard let element = element as? any InlineContent else {
                throw Refusal(
                    reason: "is a list with an element that lists do not hold",
                    remedy: "use strings, data, dates, numbers, locations or references")
            }
            values.append(try element.inline(in: zoneID))
        }
        self = .list(values)
    }
}

extension String: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue { .string(self) }
}

extension NSString: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue { .string(String(self)) }
}

extension Data: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue { .data([UInt8](self)) }
}

extension NSData: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue { .data([UInt8](Data(referencing: self))) }
}

extension Date: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue { .date(timeIntervalSinceReferenceDate) }
}

extension NSDate: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue { .date(timeIntervalSinceReferenceDate) }
}

extension Bool: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue { .int64(self ? 1 : 0) }
}

extension Double: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue { .double(self) }
}

extension Float: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue { .double(Double(self)) }
}

extension CGFloat: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue { .double(Double(self)) }
}

extension FixedWidthInteger {
    fileprivate var asInt64: RecordValue {
        get throws(Refusal) {
            guard let number = Int64(exactly: self) else {
                throw Refusal(
                    reason: "is larger than the integers of records", remedy: "use what an Int64 holds, or a string")
            }
            return .int64(number)
        }
    }
}

extension InlineContent where Self: FixedWidthInteger {
    func inline(in zoneID: SealKit.RecordZone.ID) throws(Refusal) -> RecordValue { try asInt64 }
}

extension Int: InlineContent {}
extension Int8: InlineContent {}
extension Int16: InlineContent {}
extension Int32: InlineContent {}
extension Int64: InlineContent {}
extension UInt: InlineContent {}
extension UInt8: InlineContent {}
extension UInt16: InlineContent {}
extension UInt32: InlineContent {}
extension UInt64: InlineContent {}

/// Its type says whether it is an integer: a field takes one of the two kinds.
extension NSNumber: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) throws(Refusal) -> RecordValue {
        switch String(cString: objCType) {
        case "f", "d": return .double(doubleValue)
        case "Q": return try uint64Value.asInt64
        default: return .int64(int64Value)
        }
    }
}

extension Array: RecordContent where Element: CKRecordValueProtocol {}
extension Array: InlineContent where Element: CKRecordValueProtocol {
    func inline(in zoneID: SealKit.RecordZone.ID) throws(Refusal) -> RecordValue {
        try RecordValue(list: self, in: zoneID)
    }
}

extension NSArray: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) throws(Refusal) -> RecordValue {
        try RecordValue(list: map { $0 }, in: zoneID)
    }
}

extension CLLocation: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) -> RecordValue {
        .location(
            Location(
                latitude: coordinate.latitude, longitude: coordinate.longitude, altitude: altitude,
                horizontalAccuracy: horizontalAccuracy, verticalAccuracy: verticalAccuracy, course: course,
                speed: speed, timestamp: timestamp))
    }
}

extension CKRecordReference: InlineContent {
    func inline(in zoneID: SealKit.RecordZone.ID) throws(Refusal) -> RecordValue {
        SealKit.Record.Reference(
            recordName: try name(in: zoneID), action: action == .deleteSelf ? .deleteSelf : .none
        ).recordValue
    }

    /// A reference holds its target's name alone, which is one of the record's own zone.
    func name(in zoneID: SealKit.RecordZone.ID) throws(Refusal) -> String {
        let target = recordID.sealed.zoneID
        let isSameOwner =
            target.ownerName == zoneID.ownerName || target.ownerName == CKCurrentUserDefaultName
            || zoneID.ownerName == CKCurrentUserDefaultName
        guard target.zoneName == zoneID.zoneName, isSameOwner else {
            throw Refusal(
                reason: "is a reference to a record in another zone", remedy: "refer to records of the same zone")
        }
        return recordID.recordName
    }
}

extension CKAsset: RecordContent {
    func content(in zoneID: SealKit.RecordZone.ID) -> SealKit.Record.Content { .asset(asset) }
}

extension RecordValue {
    /// As a field is read: an object of Foundation's, which casts as on Apple's platforms.
    func object(in zoneID: SealKit.RecordZone.ID) -> any CKRecordValueProtocol & NSObject {
        switch self {
        case .string(let text): NSString(string: text)
        case .data(let bytes): NSData(data: Data(bytes))
        case .int64(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        case .location(let place):
            CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: place.latitude, longitude: place.longitude),
                altitude: place.altitude, horizontalAccuracy: place.horizontalAccuracy,
                verticalAccuracy: place.verticalAccuracy, course: place.course, speed: place.speed,
                timestamp: place.timestamp)
        case .reference(let reference):
            CKRecordReference(
                recordID: CKRecordID(SealKit.Record.ID(recordName: reference.recordName, zoneID: zoneID)),
                action: reference.action == .deleteSelf ? .deleteSelf : .none)
        case .list(let elements): NSArray(array: elements.map { $0.object(in: zoneID) })
        }
    }
}

extension SealKit.Record.Content {
    func object(in zoneID: SealKit.RecordZone.ID) -> any CKRecordValueProtocol & NSObject {
        switch self {
        case .value(let value): value.object(in: zoneID)
        case .asset(let asset): CKAsset(asset)
        }
    }
}
