import Foundation
import SealCoding
import SealSchema
import SealService
import SealStatements
import SealWire

/// Values of plain fields as the console shows them, and takes them: a list has an element a line.
enum FieldText {
    /// Of a value that a page shows in full, or lets be changed.
    static let mostBytes = 8_192
    private static let shortCharacters = 80

    /// How it is read again by `value`; of kinds that are not edited, for people alone.
    static func text(_ value: Value) -> String {
        switch value {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .date(let seconds): DateText.text(Date(timeIntervalSinceReferenceDate: seconds))
        case .reference(let reference):
            reference.recordName + (reference.action == .deleteSelf ? " (deleted with it)" : "")
        case .location(let place): "\(place.latitude), \(place.longitude)"
        case .data(let bytes): "\(bytes.count) bytes"
        case .list(let elements): elements.map(text).joined(separator: "\n")
        }
    }

    /// As much as a table has room for.
    static func short(_ value: Value) -> String {
        let line = text(value).replacing("\n", with: " · ")
        return line.count <= shortCharacters ? line : line.prefix(shortCharacters - 1) + "…"
    }

    /// The schema language's word.
    static func kind(_ value: Value) -> String {
        switch value.tag {
        case .type(let type): type.schemaName
        case .emptyList: "LIST"
        }
    }

    /// Whether a form can have it: what a browser would send back otherwise than it was is not edited.
    static func isEditable(_ value: Value) -> Bool {
        switch value {
        case .list(let elements):
            elements.allSatisfy { element in
                if case .list = element { return false }
                return isEditable(element) && !text(element).isEmpty && !text(element).contains(where: \.isNewline)
            } && text(value).utf8.count <= mostBytes
        case .string(let text):
            text.utf8.count <= mostBytes && !text.unicodeScalars.contains { $0 == "\r" || $0 == "\0" }
        case .int64, .date: true
        case .double(let number): number.isFinite
        case .reference(let reference): reference.action == .none
        case .location, .data: false
        }
    }

    static func isEditable(_ type: ValueType) -> Bool {
        switch type.kind {
        case .string, .int64, .double, .date, .reference: true
        case .data, .location, .asset: false
        }
    }

    /// What a form has sent for a field.
    /// - Throws: `invalidArguments`, naming the field.
    static func value(_ text: String, of type: ValueType, field: String) throws(ServerError) -> Value {
        guard type.isList else { return try single(text, type.kind, field) }
        var elements: [Value] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            elements.append(try single(String(line), type.kind, field))
        }
        return .list(elements)
    }

    private static func single(_ text: String, _ kind: ValueKind, _ field: String) throws(ServerError) -> Value {
        let value: Value? =
            switch kind {
            case .string: .string(text)
            case .int64: Int64(text).map(Value.int64)
            case .double: Double(text).flatMap { $0.isFinite ? .double($0) : nil }
            // The sum has no negative zero, which no date is.
            case .date: DateText.date(typed: text).map { .date($0.timeIntervalSinceReferenceDate + 0) }
            case .reference: Names.isPlain(text) ? .reference(ReferenceValue(recordName: text)) : nil
            case .location, .data, .asset: nil
            }
        guard let value else {
            throw ServerError(
                .invalidArguments, "The field \(field) takes no such value.",
                remedy: "It is \(kind.schemaName): a whole number, one as 0.5, a time as 2026-11-21T13:40:00Z, a name.")
        }
        return value
    }
}
