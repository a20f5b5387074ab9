import ArgumentParser
import Foundation

/// `sealkit vectors`: the checked-in bytes that every implementation has to meet.
struct VectorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vectors", abstract: "Generates and verifies the protocol's test vectors and its tables of routes, and runs published vectors.",
        subcommands: [Generate.self, Verify.self, Published.self, Routes.self, SealGrants.self])

    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Writes every vector file.")
        @Argument(help: "The folder to write to.", completion: .directory) var folder = "Vectors"

        func run() throws {
            let folder = URL(filePath: folder)
            try FileManager.default.createDirectory(at: folder.appending(path: "schema"), withIntermediateDirectories: true)
            var total = 0
            for construction in Constructions.all {
                let file = try Constructions.file(of: construction)
                try file.encoded().write(to: folder.appending(path: "\(construction.name).json"))
                try Output.standardOutput("\(construction.name): \(file.numberOfTests) tests")
                total += file.numberOfTests
            }
            try Data(VectorSchema.text.utf8).write(to: folder.appending(path: "schema/vectors.json"))
            try Output.standardOutput("\(Constructions.all.count) files, \(total) tests")
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Recomputes every vector from its inputs.")
        @Argument(help: "The folder to read.", completion: .directory) var folder = "Vectors"

        func run() throws {
            guard (try? FileManager.default.contentsOfDirectory(atPath: folder))?.contains(where: { $0.hasSuffix(".json") }) == true else {
                throw Failure.Local(
                    status: .notFound, reason: "there are no vectors to read at \(folder)",
                    remedy: "run this in a checkout of SealKit, or name its folder Vectors")
            }
            var total = 0
            var missed = 0
            for construction in Constructions.all {
                let url = URL(filePath: folder).appending(path: "\(construction.name).json")
                let file: VectorFile
                do { file = try JSONDecoder().decode(VectorFile.self, from: Data(contentsOf: url)) } catch {
                    try Output.standardOutput("\(construction.name): unreadable, \(error)")
                    missed += 1
                    continue
                }
                let misses = Constructions.misses(in: file, of: construction)
                try Output.standardOutput("\(construction.name): \(file.numberOfTests) tests, \(misses.isEmpty ? "all hold" : "\(misses.count) missed")")
                for miss in misses { try Output.standardOutput("  \(miss)") }
                total += file.numberOfTests
                missed += misses.count
            }
            try Output.standardOutput("\(Constructions.all.count) files, \(total) tests, \(missed) missed")
            if missed > 0 { throw ExitCode.failure }
        }
    }

    /// HPKE takes its randomness from the library, so that grants cannot be generated the same twice: they are sealed
    /// once and kept in the source. Run this when the vectors' people or scope change.
    struct SealGrants: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "seal-grants", abstract: "Prints fresh constants for RecordedGrants.swift.", shouldDisplay: false)

        func run() throws { try StandardStream.output.write(try RecordedGrants.source()) }
    }
}
