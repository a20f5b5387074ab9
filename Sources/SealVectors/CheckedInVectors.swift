package import Foundation

/// The vector files of this repository, one a construction, and their schema.
package enum CheckedInVectors {
    /// Writes every file.
    /// - Parameter say: takes a line of the account.
    package static func generate(into folder: URL, say: (String) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder.appending(path: "schema"), withIntermediateDirectories: true)
        var total = 0
        for construction in Constructions.all {
            let file = try Constructions.file(of: construction)
            try file.encoded().write(to: folder.appending(path: "\(construction.name).json"))
            try say("\(construction.name): \(file.numberOfTests) tests")
            total += file.numberOfTests
        }
        try Data(VectorSchema.text.utf8).write(to: folder.appending(path: "schema/vectors.json"))
        try say("\(Constructions.all.count) files, \(total) tests")
    }

    /// Recomputes every vector from its inputs.
    /// - Parameter say: takes a line of the account.
    /// - Returns: how many tests do not hold; a file that cannot be read counts as one.
    /// - Throws: `NothingToRead`, and what `say` throws.
    package static func verify(in folder: URL, say: (String) throws -> Void) throws -> Int {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        guard names?.contains(where: { $0.hasSuffix(".json") }) == true else {
            throw NothingToRead(reason: "there are no vectors to read at \(folder.relativePath)")
        }
        var total = 0
        var missed = 0
        for construction in Constructions.all {
            guard let file = try read(construction, in: folder, say) else {
                missed += 1
                continue
            }
            let misses = Constructions.misses(in: file, of: construction)
            let outcome = misses.isEmpty ? "all hold" : "\(misses.count) missed"
            try say("\(construction.name): \(file.numberOfTests) tests, \(outcome)")
            for miss in misses { try say("  \(miss)") }
            total += file.numberOfTests
            missed += misses.count
        }
        try say("\(Constructions.all.count) files, \(total) tests, \(missed) missed")
        return missed
    }

    /// nil for a file that cannot be read, once that was said.
    private static func read(
        _ construction: any Construction.Type, in folder: URL, _ say: (String) throws -> Void
    ) throws -> VectorFile? {
        let url = folder.appending(path: "\(construction.name).json")
        do { return try JSONDecoder().decode(VectorFile.self, from: Data(contentsOf: url)) } catch {
            try say("\(construction.name): unreadable, \(error)")
            return nil
        }
    }
}
