import Foundation

/// Reads the sources: which types have a stored property that holds a secret, directly or through another type.
///
/// The sources are formatted by one hand, so indentation tells what belongs to which type.
struct SecretTypes {
    /// What a secret is made of, and types that hold one as text.
    static let roots: Set = ["SecretBytes"]

    /// `Outer.Inner` for each type, with the names of its stored properties' types.
    private var properties: [String: Set<String>] = [:]

    static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")

    static func swiftFiles(in modules: [String]) throws -> [(name: String, text: String)] {
        try modules.flatMap { module in
            let folder = sources.appendingPathComponent(module)
            return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix(".swift") && !$0.hasSuffix(".pb.swift") }.sorted()
                .map { ("\(module)/\($0)", try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)) }
        }
    }

    init(modules: [String]) throws {
        for file in try SecretTypes.swiftFiles(in: modules) { read(file.text) }
    }

    private mutating func read(_ text: String) {
        var open: [(name: String, indentation: Int)] = []
        for line in text.split(separator: "\n") {
            let indentation = line.prefix { $0 == " " }.count
            let code = line.drop { $0 == " " }
            if code.hasPrefix("//") { continue }
            while let last = open.last, indentation <= last.indentation, !code.hasPrefix("}") { open.removeLast() }
            if let name = SecretTypes.declaredType(code) {
                open.append((name, indentation))
                properties[open.map(\.name).joined(separator: "."), default: []].formUnion([])
            } else if let last = open.last, indentation == last.indentation + 4, let type = SecretTypes.storedType(code)
            {
                let words = type.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
                properties[open.map(\.name).joined(separator: "."), default: []].formUnion(words)
            }
        }
    }

    private static func declaredType(_ code: Substring) -> String? {
        let words = code.split(separator: " ")
        let kinds: Set<Substring> = ["struct", "class", "actor", "enum", "extension"]
        guard let index = words.firstIndex(where: { kinds.contains($0) }), index + 1 < words.count,
            words[..<index].allSatisfy({
                ["public", "package", "private", "fileprivate", "final", "indirect", "@unchecked"].contains($0)
            })
        else { return nil }
        return String(words[index + 1].prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" })
    }

    /// The text that names a stored property's types, or an enum case's payload.
    private static func storedType(_ code: Substring) -> Substring? {
        if code.hasPrefix("case "), let parenthesis = code.firstIndex(of: "(") { return code[parenthesis...] }
        let words = code.split(separator: " ")
        guard let keyword = words.firstIndex(where: { $0 == "let" || $0 == "var" }),
            !words[..<keyword].contains("static"),
            !words[..<keyword].contains(where: { $0 == "guard" || $0 == "if" })
        else { return nil }
        // A computed property opens a brace; one with a default has an equals sign before any brace.
        let beforeDefault = code.split(separator: "=", maxSplits: 1)[0]
        if beforeDefault.contains("{") { return nil }
        if let colon = code.firstIndex(of: ":") { return code[colon...] }
        return code.split(separator: "=", maxSplits: 1).dropFirst().first
    }

    /// The closure: what holds a root, and what holds what holds one.
    func holders(of roots: Set<String> = SecretTypes.roots) -> Set<String> {
        var found: Set<String> = []
        var names = roots
        while true {
            let next = properties.filter { !found.contains($0.key) && !$0.value.isDisjoint(with: names) }.map(\.key)
            if next.isEmpty { return found }
            found.formUnion(next)
            names.formUnion(next.map { String($0.split(separator: ".").last ?? "") })
        }
    }
}
