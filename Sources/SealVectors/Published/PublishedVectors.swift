package import Foundation
import SealVectorChecks

/// Finds the published vectors below a folder and puts all of them to the test. Nothing is passed over in silence: a
/// family without a file, a file that cannot be read and one with an unknown kind of test are missed.
package enum PublishedVectors {
    static let families: [any PublishedFamily.Type] = [
        WycheproofX25519.self, WycheproofEd25519.self, WycheproofChaCha20Poly1305.self,
        WycheproofXChaCha20Poly1305.self,
        WycheproofHMAC.self, WycheproofHKDF.self, CCTVEd25519.self, PasetoStandard.self, HPKEPostQuantum.self,
        XWingDraft.self,
    ]
    static let constants: [any PublishedConstants.Type] = [BLAKE2bConstants.self, Argon2idConstants.self]

    package struct Outcome {
        var files = 0
        var tests = 0
        package fileprivate(set) var missed = 0

        package var summary: String { "\(files) published files, \(tests) tests, \(missed) missed" }
    }

    /// - Parameter say: takes a line of the account.
    /// - Throws: `NothingToRead`, and what `say` throws.
    package static func run(in folder: URL, say: (String) throws -> Void) throws -> Outcome {
        try run(in: folder, constants: constants, say: say)
    }

    static func run(
        in folder: URL, constants: [any PublishedConstants.Type], say: (String) throws -> Void
    ) throws -> Outcome {
        var outcome = Outcome()
        var seen: Set<String> = []
        var others: [String] = []
        for path in try files(in: folder) {
            guard let file = try? JSONDecoder().decode(JSON.self, from: Data(contentsOf: folder.appending(path: path)))
            else {
                try say("\(path): unreadable, 1 missed")
                outcome.missed += 1
                continue
            }
            guard let family = families.first(where: { $0.recognises(file) }) else {
                others.append(path)
                continue
            }
            seen.insert(family.name)
            outcome.files += 1
            try account(for: path, in: &outcome, say) { report in try family.run(file, into: &report) }
        }
        for set in constants { try account(for: set.name, in: &outcome, say) { report in try set.run(into: &report) } }
        if !others.isEmpty {
            try say(
                "\(others.count) more not run, of no family that SealKit stands on: \(others.joined(separator: ", "))")
        }
        for family in families where !seen.contains(family.name) {
            try say("\(family.name): no file of this family in \(folder.path), 1 missed")
            outcome.missed += 1
        }
        return outcome
    }

    private static func account(
        for name: String, in outcome: inout Outcome, _ say: (String) throws -> Void,
        run: (inout PublishedReport) throws -> Void
    ) throws {
        var report = PublishedReport()
        do {
            try run(&report)
            if report.held == 0 { report.miss("nothing in it holds") }
        } catch {
            report.miss("\(error)")
        }
        try say("\(name): \(report.summary)")
        for miss in report.misses { try say("  \(miss)") }
        outcome.tests += report.tests
        outcome.missed += report.misses.count
    }

    private static func files(in folder: URL) throws -> [String] {
        do {
            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.resolvingSymlinksInPath().path)
            return paths.filter { $0.hasSuffix(".json") }.sorted()
        } catch {
            throw NothingToRead(reason: "there is no folder to read at \(folder.path)")
        }
    }
}
