import Foundation
import Testing

/// The package graph itself shows that the server holds no code that decrypts.
@Suite(.timeLimit(.minutes(60))) struct FloorsTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The package's own targets that a target's entry in the manifest names.
    private func dependencies(of target: String, in manifest: String) throws -> Set<String> {
        let start = try #require(manifest.range(of: "name: \"\(target)\","))
        let rest = manifest[start.upperBound...]
        let end = rest.range(of: "swiftSettings:")?.lowerBound ?? rest.endIndex
        let names = rest[..<end].matches(of: /"(Seal[A-Za-z]+)"/).map { String($0.1) }
        return Set(names)
    }

    @Test func theServerDoesNotReachTheEnvelope() throws {
        let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        // The products of the same names come first; the targets are what counts.
        let targets = String(manifest[try #require(manifest.range(of: "targets: [\n        // Floor 0")).lowerBound...])
        var reached: Set<String> = []
        var open: Set<String> = ["SealServer"]
        while let next = open.popFirst() {
            reached.insert(next)
            open.formUnion(try dependencies(of: next, in: targets).subtracting(reached))
        }
        #expect(reached == ["SealServer", "SealSystem", "SealPrimitives", "SealStatements", "SealWire", "SealCoding", "SealSchema", "SealQuery"])
        // The same reading finds the envelope where it is.
        #expect(try dependencies(of: "SealKit", in: targets).contains("SealEnvelope"))
    }

    @Test func noFileOfTheServerImportsIt() throws {
        let folder = root.appendingPathComponent("Sources/SealServer")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var read = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            read += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains("import SealEnvelope") && !text.contains("import SealKit"), "\(file.lastPathComponent)")
        }
        #expect(read > 50)
    }
}
