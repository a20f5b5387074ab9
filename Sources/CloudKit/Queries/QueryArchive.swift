import Foundation
import SealKit

/// Predicates and sort descriptors, which Foundation does not archive on this platform: as what they are made of.
extension NSCoder {
    private static let classes: [AnyClass] = [
        NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, CLLocation.self,
        CKRecordReference.self, CKRecordID.self,
    ]

    // MARK: Predicates

    /// Nothing for a predicate that no server can be asked by.
    func encode(_ predicate: NSPredicate, as key: String) {
        if let parts = Self.archived(predicate) { encode(parts, forKey: key) }
    }

    func predicate(_ key: String) -> NSPredicate? {
        guard containsValue(forKey: key) else { return nil }
        return (decodeObject(of: Self.classes, forKey: key) as? [Any]).flatMap { Self.predicate($0) }
    }

    private static func archived(_ predicate: NSPredicate) -> NSArray? {
        switch predicate {
        case let text as TextPredicate:
            let arguments = text.arguments.compactMap { (try? $0.get()).map { archived(argument: $0) } }
            guard arguments.count == text.arguments.count else { return nil }
            return NSArray(array: [NSString(string: "format"), NSString(string: text.source)] + arguments)
        case let read as ReadPredicate:
            return (try? read.predicate.kept()).map { NSArray(array: [NSString(string: "read"), NSData(data: $0)]) }
        case let compound as NSCompoundPredicate:
            let kind: String
            switch compound.compoundPredicateType {
            case .and: kind = "and"
            case .not: kind = "not"
            default: return nil
            }
            let parts = compound.subpredicates.compactMap(archived)
            return parts.count == compound.subpredicates.count
                ? NSArray(array: [NSString(string: kind)] + parts) : nil
        default:
            let text = predicate.text
            return ["TRUEPREDICATE", "FALSEPREDICATE"].contains(text) ? NSArray(array: [NSString(string: text)]) : nil
        }
    }

    private static func predicate(_ parts: [Any]) -> NSPredicate? {
        let rest = Array(parts.dropFirst())
        switch parts.first as? String {
        case "TRUEPREDICATE": return NSPredicate(value: true)
        case "FALSEPREDICATE": return NSPredicate(value: false)
        case "format":
            let arguments = rest.dropFirst().compactMap { ($0 as? [Any]).flatMap(argument) }
            guard let source = rest.first as? String, arguments.count == rest.count - 1 else { return nil }
            return TextPredicate(source, arguments)
        case "read":
            guard let kept = rest.first as? Data, rest.count == 1 else { return nil }
            return (try? SealKit.Query.Predicate(kept: kept)).map { ReadPredicate($0) }
        case "and", "not":
            let subpredicates = rest.compactMap { ($0 as? [Any]).flatMap(predicate) }
            guard subpredicates.count == rest.count else { return nil }
            if parts.first as? String == "and" {
                return NSCompoundPredicate(andPredicateWithSubpredicates: subpredicates)
            }
            return subpredicates.count == 1 ? NSCompoundPredicate(notPredicateWithSubpredicate: subpredicates[0]) : nil
        default: return nil
        }
    }

    /// Numbers as text: an archiver keeps one object for all that are equal, and to it 1, 1.0 and true are.
    private static func archived(argument: RecordValue) -> NSArray {
        switch argument {
        case .int64(let number): NSArray(array: [NSString(string: "integer"), NSString(string: "\(number)")])
        case .double(let number):
            NSArray(array: [NSString(string: "fraction"), NSString(string: "\(number.bitPattern)")])
        default: NSArray(array: [NSString(string: "object"), argument.object(in: .default)])
        }
    }

    private static func argument(_ parts: [Any]) -> Any? {
        guard parts.count == 2, let kind = parts[0] as? String else { return nil }
        let text = parts[1] as? String
        switch kind {
        case "integer": return text.flatMap { Int64($0) }.map { NSNumber(value: $0) }
        case "fraction": return text.flatMap { UInt64($0) }.map { NSNumber(value: Double(bitPattern: $0)) }
        case "object": return parts[1]
        default: return nil
        }
    }

    // MARK: Orders

    func encode(_ descriptors: [NSSortDescriptor], as key: String) {
        let parts = descriptors.compactMap { descriptor -> NSArray? in
            switch descriptor {
            case let byKey as KeySortDescriptor:
                NSArray(array: [NSString(string: byKey.name), NSString(string: byKey.ascending ? "up" : "down")])
            case let byPlace as CKLocationSortDescriptor:
                NSArray(array: [NSString(string: byPlace.name), byPlace.relativeLocation])
            default: nil
            }
        }
        if parts.count == descriptors.count { encode(NSArray(array: parts), forKey: key) }
    }

    func sortDescriptors(_ key: String) -> [NSSortDescriptor]? {
        guard containsValue(forKey: key), let parts = decodeObject(of: Self.classes, forKey: key) as? [Any] else {
            return nil
        }
        let descriptors = parts.compactMap { part -> NSSortDescriptor? in
            guard let part = part as? [Any], part.count == 2, let name = part[0] as? String else { return nil }
            if let place = part[1] as? CLLocation {
                return CKLocationSortDescriptor(key: name, relativeLocation: place)
            }
            switch part[1] as? String {
            case "up": return KeySortDescriptor(name, ascending: true)
            case "down": return KeySortDescriptor(name, ascending: false)
            default: return nil
            }
        }
        return descriptors.count == parts.count ? descriptors : nil
    }
}
