import Foundation
import SealVectorChecks
import Testing

@testable import SealVectors

/// The published vectors where they lie: in no copy of ours. `.ci/run` sets the variable when they stand beside the
/// checkout.
@Suite(.serialized, .timeLimit(.minutes(60))) struct PublishedVectorsTests {
    static let folder = ProcessInfo.processInfo.environment["SEALKIT_PUBLISHED_VECTORS"].map { URL(filePath: $0) }
    static let whyNot: Comment =
        "not run: SEALKIT_PUBLISHED_VECTORS names no folder; see `sealkit help vectors published`"

    /// Of each family: an output of a test that holds, to be altered.
    static let targets: [(family: String, key: String, isTarget: @Sendable (Fields) -> Bool)] = [
        ("Wycheproof x25519", "shared", isValid), ("Wycheproof ed25519", "sig", isValid),
        ("Wycheproof chacha20-poly1305", "ct", isValid), ("Wycheproof xchacha20-poly1305", "tag", isValid),
        ("Wycheproof hmac-sha256", "tag", isValid), ("Wycheproof hkdf-sha256", "okm", isValid),
        // The one that we accept, and one that only libsodium does.
        ("CCTV ed25519", "sig", { (try? $0.int("number")) == 305 }),
        ("CCTV ed25519", "sig", { (try? $0.int("number")) == 7 }),
        ("PASETO v4", "token", { (try? $0.string("name")) == "4-S-1" }),
        ("HPKE with X-Wing", "ct", isOurSuite), ("HPKE with X-Wing", "exported_value", isOurSuite),
        ("HPKE with X-Wing", "key", isOurSuite), ("X-Wing", "ss", { $0.has("ss") }),
    ]
    static let isValid: @Sendable (Fields) -> Bool = { (try? $0.string("result")) == "valid" }
    static let isOurSuite: @Sendable (Fields) -> Bool = { (try? $0.string("suite_id")) == "48504b45647a00010003" }

    @Test(.enabled(if: folder != nil, whyNot))
    func `All published vectors hold`() throws {
        var lines: [String] = []
        let outcome = try PublishedVectors.run(in: try #require(Self.folder)) { lines.append($0) }
        #expect(outcome.missed == 0, "\(lines.joined(separator: "\n"))")
        #expect(outcome.files >= PublishedVectors.families.count)
    }

    @Test(.enabled(if: folder != nil, whyNot))
    func `An altered vector is missed, in whatever folder its file is`() throws {
        let files = try Self.files(below: try #require(Self.folder))
        for target in Self.targets {
            let family = try #require(PublishedVectors.families.first { $0.name == target.family })
            let file = try #require(files.first { family.recognises($0) })
            let altered = try #require(file.altered(target.key, where: target.isTarget))
            let lines = try Self.run(altered)
            #expect(
                lines.contains { $0.hasPrefix("some/where/else.json: ") && !$0.contains(", 0 missed") },
                "\(target.family): \(lines)")
        }
    }

    @Test(.enabled(if: folder != nil, whyNot))
    func `A kind of test that is not known is missed`() throws {
        for file in try Self.files(below: try #require(Self.folder)) {
            guard let algorithm = try? file.fields?.string("algorithm") else { continue }
            let altered = try #require(file.altered("type", where: { $0.has("tests") }))
            let lines = try Self.run(altered)
            #expect(lines.contains { $0.contains("is not known") }, "\(algorithm): \(lines)")
        }
    }

    @Test func `Altered constants are missed`() throws {
        var report = PublishedReport()
        for test in BLAKE2bConstants.hashings {
            let altered = BLAKE2bConstants.Hashing(
                source: test.source, message: test.message, key: test.key, output: test.output.altered)
            try BLAKE2bConstants.run(altered, into: &report)
        }
        try BLAKE2bConstants.runSelfTest(output: BLAKE2bConstants.selfTest.altered, into: &report)
        for test in Argon2idConstants.derivations {
            let altered = Argon2idConstants.Derivation(
                password: test.password, salt: test.salt, passes: test.passes, memoryBytes: test.memoryBytes,
                output: test.output.altered)
            try Argon2idConstants.run(altered, into: &report)
        }
        let (password, text) = Argon2idConstants.reference[2]
        Argon2idConstants.run(password, text.replacing("$nf65", with: "$nf66"), into: &report)
        #expect(report.misses.count == report.tests)
        #expect(report.tests == 7)
    }

    @Test func `A folder that is not there is refused`() throws {
        #expect(throws: NothingToRead.self) { try PublishedVectors.run(in: URL(filePath: "/nowhere/at/all")) { _ in } }
    }

    @Test func `Absent families, unreadable and foreign files are named`() throws {
        let lines = try Self.run(.object(["algorithm": .string("AES-GCM")]), beside: "not JSON")
        for family in PublishedVectors.families {
            #expect(lines.contains { $0.hasPrefix("\(family.name): no file of this family") })
        }
        #expect(lines.contains("broken.json: unreadable, 1 missed"))
        #expect(lines.contains("1 more not run, of no family that SealKit stands on: some/where/else.json"))
        #expect(lines.last == "0 published files, 0 tests, \(PublishedVectors.families.count + 1) missed")
    }

    // MARK: Support

    static func files(below folder: URL) throws -> [JSON] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }.map {
            try JSONDecoder().decode(JSON.self, from: Data(contentsOf: folder.appending(path: $0)))
        }
    }

    /// The account of a folder that holds just this.
    static func run(_ file: JSON, beside broken: String? = nil) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "published-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appending(path: "some/where"), withIntermediateDirectories: true)
        try JSONEncoder().encode(file).write(to: folder.appending(path: "some/where/else.json"))
        if let broken { try Data(broken.utf8).write(to: folder.appending(path: "broken.json")) }
        var lines: [String] = []
        let outcome = try PublishedVectors.run(in: folder, constants: []) { lines.append($0) }
        return lines + [outcome.summary]
    }
}

extension JSON {
    /// With one letter of the first such string altered, in the first object that is meant.
    func altered(_ key: String, where isTarget: (Fields) -> Bool) -> JSON? {
        if let fields, isTarget(fields), let altered = altered(key) { return altered }
        return alteringFirst { $0.altered(key, where: isTarget) }
    }

    private func altered(_ key: String) -> JSON? {
        if case .object(let values) = self, case .string(let text)? = values[key], !text.isEmpty {
            return .object(values.merging([key: .string(text.altered)]) { $1 })
        }
        return alteringFirst { $0.altered(key) }
    }

    private func alteringFirst(_ body: (JSON) -> JSON?) -> JSON? {
        switch self {
        case .array(var elements):
            for index in elements.indices {
                guard let altered = body(elements[index]) else { continue }
                elements[index] = altered
                return .array(elements)
            }
            return nil
        case .object(let values):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                if let altered = body(value) { return .object(values.merging([key: altered]) { $1 }) }
            }
            return nil
        default: return nil
        }
    }
}

extension String {
    /// With another letter in the middle, be it hexadecimal or base64url.
    fileprivate var altered: String {
        let middle = index(startIndex, offsetBy: count / 2)
        return replacingCharacters(in: middle...middle, with: self[middle] == "0" ? "1" : "0")
    }
}
