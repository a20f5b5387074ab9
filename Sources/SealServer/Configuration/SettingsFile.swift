import Foundation
import SealSystem
import Yams

/// What a settings file holds: every value as text, whatever it was written as, and nothing that is no setting. JSON is
/// read as the YAML that it is.
struct SettingsFile {
    /// By the parts of their names: `tls.key` and `tls: {key: …}` are the same. Lists are texts between commas.
    private(set) var values: [[String]: String] = [:]
    /// Where they stand.
    private(set) var lines: [[String]: Int] = [:]
    private let path: String
    /// Of all settings that there are: as flags spell them, by the parts of their names here.
    private let flags: [[String]: String]

    /// - Parameter settings: all that there are, by their names as flags.
    init(path: String, settings: [String: [String]]) throws(ConfigurationError) {
        self.path = path
        flags = Dictionary(uniqueKeysWithValues: settings.map { ($1, $0) })
        try ConfigurationError.requireFile("config", path)
        guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8)
        else {
            throw .unreadableFile(path: path, line: nil)
        }
        let root: Node?
        do {
            root = try Parser(yaml: text).singleRoot()
        } catch {
            if let second = Repetition(error, in: text) {
                throw .repeatedSetting(name: second.name.joined(separator: "."), path: path, line: second.line)
            }
            // Its own words show what stands there, which may be a password.
            throw .unreadableFile(path: path, line: Self.line(of: error))
        }
        // Nothing but comments, perhaps.
        guard let root, root.null == nil else { return }
        guard let mapping = root.mapping else { throw .unreadableFile(path: path, line: root.mark?.line ?? 1) }
        try take(mapping, below: [])
    }

    private mutating func take(_ mapping: Node.Mapping, below prefix: [String]) throws(ConfigurationError) {
        for (key, node) in mapping {
            let line = key.mark?.line ?? node.mark?.line ?? 1
            guard let text = key.scalar?.string else { throw .unreadableFile(path: path, line: line) }
            let name = prefix + text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            if let flag = flags[name] {
                guard let value = Self.text(node) else {
                    guard let inner = node.mapping?.first?.key.scalar?.string else {
                        throw .unreadableFile(path: path, line: line)
                    }
                    throw unknown(name + [inner], line)
                }
                if node.sequence != nil, !ServerConfiguration.lists.contains(flag) {
                    throw .invalidInFile(setting: flag, expected: "one value, and no list", path: path, line: line)
                }
                guard values.updateValue(value, forKey: name) == nil else {
                    throw .repeatedSetting(name: name.joined(separator: "."), path: path, line: line)
                }
                lines[name] = line
            } else {
                guard flags.keys.contains(where: { $0.starts(with: name) }) else { throw unknown(name, line) }
                if let inner = node.mapping {
                    try take(inner, below: name)
                } else if node.null == nil {
                    throw unknown(name, line)
                }
            }
        }
    }

    /// Nil for a mapping, and for a list of more than texts.
    private static func text(_ node: Node) -> String? {
        if node.null != nil { return "" }
        if let scalar = node.scalar { return scalar.string }
        guard let items = node.sequence?.map({ $0.scalar?.string }), !items.contains(nil) else { return nil }
        return items.compactMap { $0 }.joined(separator: ",")
    }

    private func unknown(_ name: [String], _ line: Int) -> ConfigurationError {
        func letters(_ parts: [String]) -> String { parts.joined().filter { $0 != "-" && $0 != "_" }.lowercased() }
        let meant = Misspelling.nearest(to: letters(name), among: Set(flags.keys), letters)
        return .unknownSetting(
            name: name.joined(separator: "."), path: path, line: line, meant: meant?.joined(separator: "."))
    }

    private static func line(of error: any Error) -> Int? {
        switch error as? YamlError {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        case .duplicatedKeysInMapping(_, let context): context.mark.line
        default: nil
        }
    }
}
