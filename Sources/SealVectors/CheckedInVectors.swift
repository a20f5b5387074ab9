package import Foundation
import SealKit
import SealVectorChecks

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
        var tally = VectorTally()
        for construction in VectorConstruction.allCases {
            let url = folder.appending(path: "\(construction.rawValue).json")
            let file: VectorFile
            do { file = try VectorFile(decoding: Data(contentsOf: url)) } catch {
                try say(tally.add(unreadable: construction, "\(error)"))
                continue
            }
            let misses = construction.misses(in: file, using: XWingHPKE.self)
            for line in tally.add(construction, file, misses: misses) { try say(line) }
        }
        try say(tally.summary)
        return tally.missed
    }
}
