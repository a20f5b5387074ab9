import Foundation
import SealKit

/// Records in keyed archives. All of it is Foundation's own classes, so that an archive names none of this module.
extension SealKit.Record {
    static let systemFieldsKey = "SystemFields"
    private static let fieldsKey = "Fields"
    private static let removedKey = "RemovedKeys"
    private static let parentKey = "Parent"

    func encode(with coder: NSCoder) {
        coder.encode(NSData(data: encodeSystemFields()), forKey: Self.systemFieldsKey)
        let changed = Set(changedKeys())
        let fields = NSMutableDictionary()
        for key in allKeys() {
            guard let field = archived(key, isChanged: changed.contains(key)) else { continue }
            fields[NSString(string: key)] = field
        }
        coder.encode(fields, forKey: Self.fieldsKey)
        let kept = Set(allKeys())
        coder.encode(
            NSArray(array: changed.subtracting(kept).sorted().map { NSString(string: $0) }), forKey: Self.removedKey)
        // System fields have the parent that was saved.
        coder.encode(NSArray(array: parent.map { [NSString(string: $0.recordName)] } ?? []), forKey: Self.parentKey)
    }

    /// nil for what is no archive of a record, or a damaged one.
    init?(coder: NSCoder) {
        guard let record = Self.read(coder) else { return nil }
        self = record
    }

    private static func read(_ coder: NSCoder) -> SealKit.Record? {
        guard let data = coder.bytes(Self.systemFieldsKey), var record = try? SealKit.Record(systemFields: data) else {
            return nil
        }
        guard coder.containsValue(forKey: fieldsKey) else { return record }
        guard let fields = coder.value(fieldsKey) as? [String: [Any]],
            let removed = coder.value(removedKey) as? [String],
            let parent = coder.value(parentKey) as? [String]
        else { return nil }
        for (key, field) in fields { guard record.restore(field, for: key) else { return nil } }
        for key in removed { record.restore(nil, for: key, isEncrypted: false, isChanged: true) }
        record.parent = parent.first.map { Reference(recordName: $0) }
        return record
    }

    // MARK: Fields

    /// A field in an archive: two words, a kind, and a value of text or data.
    // No numbers: an archiver keeps one object for all that are equal, and to it 1, 1.0 and true are.
    private enum Word {
        static let changed = "changed"
        static let kept = "kept"
        static let encrypted = "encrypted"
        static let plain = "plain"
    }

    private enum Kind: String {
        case string, data, int64, double, date, location, reference, list, asset
    }

    /// Nil for a file that the server has.
    private func archived(_ key: String, isChanged: Bool) -> NSArray? {
        let sealed = encryptedValues.value(key)
        let words = [isChanged ? Word.changed : Word.kept, sealed == nil ? Word.plain : Word.encrypted]
        if let value = sealed ?? plainValue(key) {
            return NSArray(array: words.map { NSString(string: $0) } + Self.archived(value))
        }
        guard isChanged, let file = (self[key] as Asset?)?.fileURL else { return nil }
        return NSArray(array: (words + [Kind.asset.rawValue, file.path]).map { NSString(string: $0) })
    }

    private static func archived(_ value: RecordValue) -> [NSObject] {
        func field(_ kind: Kind, _ value: NSObject) -> [NSObject] { [NSString(string: kind.rawValue), value] }
        func text(_ text: String) -> NSString { NSString(string: text) }
        switch value {
        case .string(let string): return field(.string, text(string))
        case .data(let bytes): return field(.data, NSData(data: Data(bytes)))
        case .int64(let number): return field(.int64, text("\(number)"))
        case .double(let number): return field(.double, text("\(number.bitPattern)"))
        case .date(let seconds): return field(.date, text("\(seconds.bitPattern)"))
        case .location(let place):
            let numbers = [
                place.latitude, place.longitude, place.altitude, place.horizontalAccuracy, place.verticalAccuracy,
                place.course, place.speed, place.time,
            ]
            return field(.location, text(numbers.map { "\($0.bitPattern)" }.joined(separator: " ")))
        case .reference(let reference):
            return field(
                .reference, NSArray(array: [text(reference.recordName), text("\(reference.action.rawValue)")]))
        case .list(let elements):
            return field(.list, NSArray(array: elements.map { NSArray(array: archived($0)) }))
        }
    }

    /// - Returns: false for what `archived` does not make.
    private mutating func restore(_ field: [Any], for key: String) -> Bool {
        guard field.count == 4, let change = field[0] as? String, let secrecy = field[1] as? String,
            [Word.changed, Word.kept].contains(change), [Word.encrypted, Word.plain].contains(secrecy)
        else { return false }
        if field[2] as? String == Kind.asset.rawValue {
            guard let path = field[3] as? String, secrecy == Word.plain, change == Word.changed else { return false }
            restore(.asset(Asset(fileURL: URL(fileURLWithPath: path))), for: key, isEncrypted: false, isChanged: true)
        } else {
            guard let value = Self.value(Array(field[2...])) else { return false }
            restore(
                .value(value), for: key, isEncrypted: secrecy == Word.encrypted, isChanged: change == Word.changed)
        }
        return true
    }

    private static func value(_ field: [Any]) -> RecordValue? {
        guard field.count == 2, let kind = (field[0] as? String).flatMap({ Kind(rawValue: $0) }) else { return nil }
        func double(_ text: Substring) -> Double? { UInt64(text).map { Double(bitPattern: $0) } }
        let text = field[1] as? String
        switch kind {
        case .string: return text.map { .string($0) }
        case .data: return (field[1] as? Data).map { .data([UInt8]($0)) }
        case .int64: return text.flatMap { Int64($0) }.map { .int64($0) }
        case .double: return text.flatMap { double($0[...]) }.map { .double($0) }
        case .date: return text.flatMap { double($0[...]) }.map { .date($0) }
        case .location:
            let numbers = (text ?? "").split(separator: " ").compactMap(double)
            guard numbers.count == 8 else { return nil }
            return .location(
                Location(
                    latitude: numbers[0], longitude: numbers[1], altitude: numbers[2], horizontalAccuracy: numbers[3],
                    verticalAccuracy: numbers[4], course: numbers[5], speed: numbers[6],
                    timestamp: Date(timeIntervalSinceReferenceDate: numbers[7])))
        case .reference:
            guard let parts = field[1] as? [String], parts.count == 2,
                let action = UInt8(parts[1]).flatMap({ Reference.Action(rawValue: $0) })
            else { return nil }
            return Reference(recordName: parts[0], action: action).recordValue
        case .list:
            guard let elements = field[1] as? [[Any]] else { return nil }
            var values: [RecordValue] = []
            for element in elements {
                // Lists hold no lists, however deep an archive goes.
                guard element.first as? String != Kind.list.rawValue, let value = value(element) else { return nil }
                values.append(value)
            }
            return .list(values)
        case .asset: return nil
        }
    }
}
