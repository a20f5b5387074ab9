import ArgumentParser
import Foundation
import SealVectors

/// `sealkit vectors`: the checked-in bytes that every implementation has to meet.
struct VectorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vectors",
        abstract:
            "Generates and verifies the protocol's test vectors and its tables of routes, and runs published vectors.",
        subcommands: [Generate.self, Verify.self, Published.self, Routes.self, SealGrants.self])

    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Writes every vector file.")
        @Argument(help: "The folder to write to.", completion: .directory) var folder = "Vectors"

        func run() throws {
            try CheckedInVectors.generate(into: URL(filePath: folder)) { try Output.standardOutput($0) }
        }
    }

    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Recomputes every vector from its inputs.")
        @Argument(help: "The folder to read.", completion: .directory) var folder = "Vectors"

        func run() throws {
            let missed: Int
            do {
                missed = try CheckedInVectors.verify(in: URL(filePath: folder)) { try Output.standardOutput($0) }
            } catch let nothing as NothingToRead {
                throw Failure.Local(
                    status: .notFound, reason: nothing.reason,
                    remedy: "run this in a checkout of SealKit, or name its folder Vectors")
            }
            if missed > 0 { throw ExitCode.failure }
        }
    }

    /// HPKE takes its randomness from the library, so that grants cannot be generated the same twice: they are sealed
    /// once and kept in the source. Run this when the vectors' people or scope change.
    struct SealGrants: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "seal-grants", abstract: "Prints fresh constants for RecordedGrants.swift.",
            shouldDisplay: false)

        func run() throws { try StandardStream.output.write(try RecordedGrants.source()) }
    }
}
