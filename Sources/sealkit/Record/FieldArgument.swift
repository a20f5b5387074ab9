import Foundation
import SealKit
import SealStatements

/// `key=value`, `key:kind=value` or `key:list-kind=a,b`; `@file` and `@-` take the value from a file or standard input.
struct FieldArgument {
    let key: String
    let value: RecordValue

    static let help = """
        VALUES are written key=value, or key:kind=value with one of these kinds:

          string     text (the default)
          int        a whole number
          double     a number
          date       2026-11-21, 2026-11-21T10:00:00.25Z, or @ and the seconds since 2001 (UTC)
          location   latitude,longitude: 52.5,13.4
          data       base64
          ref        the name of a record in the same zone (--set only)
          list-…     a list of one of these: tags:list-string=a,b  (\\, is a comma)

        A value of @path is read from that file, and @- from standard input, so that it does not show in the list of processes; \
        @@ stands for a single @ in front. Not so for a date.
        """

    /// - Throws: `invalidArguments`, naming the key and never the value.
    init(_ text: String) throws(SealKitError) {
        guard let equals = text.firstIndex(of: "=") else {
            throw SealKitError(.invalidArguments, "a field without a value", remedy: "write key=value")
        }
        let name = text[..<equals].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        key = String(name[0])
        let kind = name.count == 2 ? String(name[1]) : "string"
        let given = String(text[text.index(after: equals)...])
        let source = Self.isDate(kind) ? .literal(given) : try Source(given, key: key)
        if kind.hasPrefix("list-") {
            let kind = try Kind(String(kind.dropFirst(5)), key: key)
            let elements = Self.elements(try source.text(without: kind == .string ? .lineEnd : .blanks))
            var values: [RecordValue] = []
            for element in elements { values.append(try kind.value(element, key: key)) }
            value = .list(values)
        } else {
            let kind = try Kind(kind, key: key)
            value =
                kind == .data
                ? .data(try source.data())
                : try kind.value(try source.text(without: kind == .string ? .nothing : .blanks), key: key)
        }
    }

    /// Whether its value comes from standard input, which can be read once.
    static func readsStandardInput(_ text: String) -> Bool {
        guard text.hasSuffix("=@-"), let equals = text.firstIndex(of: "="), text[equals...] == "=@-" else {
            return false
        }
        let kind = text[..<equals].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
        return !isDate(kind.first.map(String.init) ?? "")
    }

    /// A date that no calendar has is written with an @ in front: none comes from a file.
    private static func isDate(_ kind: String) -> Bool {
        [Kind.date.rawValue, "list-\(Kind.date.rawValue)"].contains(kind)
    }

    /// Splits at commas; a backslash takes the next character as it is. No text at all is the empty list.
    private static func elements(_ text: String) -> [String] {
        guard !text.isEmpty else { return [] }
        var elements = [""]
        var isEscaped = false
        for character in text {
            if isEscaped {
                elements[elements.count - 1].append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "," {
                elements.append("")
            } else {
                elements[elements.count - 1].append(character)
            }
        }
        return elements
    }

    private enum Source {
        case literal(String)
        case bytes([UInt8], key: String)

        /// No value is larger than its record. As text, in digits, base64 or a list's escapes, it is several times as
        /// long.
        private static let mostBytes = 8 * Limits.recordBytes

        init(_ text: String, key: String) throws(SealKitError) {
            guard text.hasPrefix("@") else {
                self = .literal(text)
                return
            }
            let path = String(text.dropFirst())
            if path.hasPrefix("@") {
                self = .literal(path)
            } else {
                self = .bytes([UInt8](try Self.read(path, key: key)), key: key)
            }
        }

        private static func read(_ path: String, key: String) throws(SealKitError) -> Data {
            let data: Data?
            do throws(SealKitError) {
                data =
                    path == "-"
                    ? try Interruption.readAll(STDIN_FILENO, "standard input", atMost: mostBytes)
                    : try GivenFile.contents(of: path, atMost: mostBytes)
            } catch {
                guard error.code == .limitExceeded else { throw error }
                throw SealKitError(
                    error.code, "field \(key): \(error.reason)",
                    remedy: "a record has \(Limits.recordBytes >> 20) MiB for all its values: give a file with --asset")
            }
            guard let data else {
                throw SealKitError(.assetFileNotFound, "field \(key): there is no file to read at \(path)")
            }
            return data
        }

        /// What a file's text has at its ends that is none of the value.
        enum Trimming {
            case nothing, lineEnd, blanks
        }

        func text(without trimming: Trimming) throws(SealKitError) -> String {
            switch self {
            case .literal(let text): return text
            case .bytes(let bytes, let key):
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw SealKitError(
                        .invalidArguments, "field \(key) is not UTF-8 text", remedy: "store it as data: \(key):data=@…")
                }
                switch trimming {
                case .nothing: return text
                case .lineEnd: return text.last?.isNewline == true ? String(text.dropLast()) : text
                case .blanks: return text.trimmingCharacters(in: .whitespacesAndNewlines)
                }
            }
        }

        /// A file's bytes as they are; what was typed is base64.
        func data() throws(SealKitError) -> [UInt8] {
            switch self {
            case .bytes(let bytes, _): return bytes
            case .literal(let text):
                guard let data = Data(base64Encoded: text) else {
                    throw SealKitError(.invalidArguments, "data is given as base64, or from a file by @path")
                }
                return [UInt8](data)
            }
        }
    }

    private enum Kind: String {
        case string, int, double, date, location, data, ref

        init(_ name: String, key: String) throws(SealKitError) {
            guard let kind = Kind(rawValue: name) else {
                throw SealKitError(
                    .invalidArguments, "field \(key): there is no kind \"\(name)\"",
                    remedy: "use string, int, double, date, location, data, ref, or list-… of one")
            }
            self = kind
        }

        func value(_ text: String, key: String) throws(SealKitError) -> RecordValue {
            switch self {
            case .string: return .string(text)
            case .int: if let number = Int64(text) { return .int64(number) }
            case .double: if let number = Double(text) { return .double(number) }
            case .date: if let date = Timestamp.parse(text) { return date.recordValue }
            case .data: if let data = Data(base64Encoded: text) { return .data([UInt8](data)) }
            case .ref: return .reference(ReferenceValue(recordName: text))
            case .location:
                let parts = text.split(separator: ",").map { Double($0.trimmingCharacters(in: .whitespaces)) }
                if parts.count == 2, let latitude = parts[0], let longitude = parts[1], abs(latitude) <= 90,
                    abs(longitude) <= 180
                {
                    return .location(Location(latitude: latitude, longitude: longitude))
                }
            }
            throw SealKitError(
                .invalidArguments, "field \(key): the value is not of the kind \(rawValue)",
                remedy: "see sealkit help record save")
        }
    }
}
