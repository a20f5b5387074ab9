import Foundation
import SealKit
import SealVectorChecks
import Testing

@testable import SealVectors

@Suite(.serialized, .timeLimit(.minutes(60))) struct CheckedInVectorsTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Vectors")

    @Test(arguments: Constructions.all.map { $0.name })
    func `A checked-in file is what the source generates, and holds`(name: String) throws {
        let construction = try #require(Constructions.all.first { $0.name == name })
        let data = try Data(contentsOf: Self.folder.appending(path: "\(name).json"))
        #expect(data == (try Constructions.file(of: construction).encoded()), "stale: run `sealkit vectors generate`")
        let file = try VectorFile(decoding: data)
        #expect(construction.construction.misses(in: file, using: XWingHPKE.self) == [])
    }

    @Test func `Every file in the folder is generated`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter {
            $0.hasSuffix(".json")
        }
        #expect(files.sorted() == Constructions.all.map { "\($0.name).json" }.sorted())
        #expect(
            try Data(contentsOf: Self.folder.appending(path: "schema/vectors.json")) == Data(VectorSchema.text.utf8))
        #expect(try JSONDecoder().decode(JSON.self, from: Data(VectorSchema.text.utf8)) != .bool(false))
    }

    /// The verifier is no rubber stamp: with any output of a valid test altered, the test is missed.
    @Test(arguments: Constructions.all.map { $0.name }.filter { $0 != "boxes" })
    func `An altered vector is missed`(name: String) throws {
        let construction = try #require(Constructions.all.first { $0.name == name })
        let file = try Constructions.file(of: construction)
        for group in file.testGroups {
            guard let test = group.tests.first(where: { $0.result == "valid" }) else { continue }
            for (key, value) in test.fields {
                guard case .string(let text) = value, text.count >= 32, text.allSatisfy(\.isHexDigit) else { continue }
                let last = text.last == "0" ? "1" : "0"
                let altered = test.fields.merging([key: .string(text.dropLast() + last)]) { $1 }
                let outcome = Result {
                    try construction.construction.outcome(
                        of: altered, shared: group.shared, type: group.type, using: XWingHPKE.self)
                }
                #expect((try? outcome.get()) != .some(nil), "\(name) \(group.type) \(key)")
            }
        }
    }

    @Test func `A folder without vectors is refused`() throws {
        let nowhere = URL(filePath: "/nowhere/at/all")
        #expect(throws: NothingToRead.self) { try CheckedInVectors.verify(in: nowhere) { _ in } }
    }

    @Test func `Altered and absent files are named`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vectors-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = try Constructions.file(of: PAEVectors.self)
        let text = try #require(String(data: try file.encoded(), encoding: .utf8))
        let altered = text.replacing("\"numberOfTests\" : \(file.numberOfTests)", with: "\"numberOfTests\" : 0")
        try Data(altered.utf8).write(to: folder.appending(path: "pae.json"))
        var lines: [String] = []
        let missed = try CheckedInVectors.verify(in: folder) { lines.append($0) }
        #expect(missed == Constructions.all.count)
        #expect(lines.contains("  numberOfTests says 0, there are \(file.numberOfTests)"))
        for other in Constructions.all where other.name != PAEVectors.name {
            #expect(lines.contains { $0.hasPrefix("\(other.name): unreadable, ") })
        }
        #expect(lines.last == "\(Constructions.all.count) files, 0 tests, \(missed) missed")
    }
}
