import ArgumentParser
import Foundation
import SealVectors

extension VectorsCommand {
    struct Published: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Runs the published vectors of the primitives.",
            discussion: """
                Reads every .json file below a folder, and knows the vectors by their content.
                They are no part of this repository; clones of these have them:

                  C2SP/wycheproof, testvectors_v1
                  C2SP/CCTV, ed25519
                  paseto-standard/test-vectors, v4.json
                  hpkewg/hpke-pq, test-vectors.json
                  dconnolly/draft-connolly-cfrg-xwing-kem, spec

                Those for BLAKE2b and Argon2id are in the source and run along.
                """)
        @Argument(help: "The folder to read.", completion: .directory) var folder: String

        func run() throws {
            let outcome: PublishedVectors.Outcome
            do {
                outcome = try PublishedVectors.run(in: URL(filePath: folder)) { try Output.standardOutput($0) }
            } catch let nothing as NothingToRead {
                throw Failure.Local(
                    status: .notFound, reason: nothing.reason,
                    remedy: "name a folder with clones of what sealkit help vectors published lists")
            }
            try Output.standardOutput(outcome.summary)
            if outcome.missed > 0 { throw ExitCode.failure }
        }
    }
}
