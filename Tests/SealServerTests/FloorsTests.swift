import Foundation
import Testing

/// The package graph itself shows that the server holds no code that decrypts, which of its parts know no HTTP, and
/// that nothing of the test vectors is shipped.
@Suite(.timeLimit(.minutes(60))) struct FloorsTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// What speaks HTTP, of the products that the package depends on.
    private static let http: Set<String> = [
        "AsyncHTTPClient", "HTTPTypes", "Hummingbird", "HummingbirdCore", "HummingbirdHTTP2", "NIOHTTP1",
        "NIOHTTPTypes", "NIOSSL",
    ]

    /// The manifest's targets: the products of the same names come before them.
    private func targets() throws -> String {
        let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        return String(manifest[try #require(manifest.range(of: "targets: [\n        // Floor 0")).lowerBound...])
    }

    /// What a target's entry names: targets of the package, and products of others.
    private func dependencies(of target: String, in targets: String) throws -> (
        own: Set<String>, products: Set<String>
    ) {
        let start = try #require(targets.range(of: "name: \"\(target)\","))
        let rest = targets[start.upperBound...]
        let entry = rest[..<(rest.range(of: "swiftSettings:")?.lowerBound ?? rest.endIndex)]
        return (
            Set(entry.matches(of: /"(Seal[A-Za-z]+)"/).map { String($0.1) }),
            Set(entry.matches(of: /\.product\(name: "([A-Za-z0-9]+)"/).map { String($0.1) })
        )
    }

    /// Everything that a target reaches, itself included.
    private func graph(of target: String, in targets: String) throws -> (own: Set<String>, products: Set<String>) {
        var (own, products, open): (Set<String>, Set<String>, Set<String>) = ([], [], [target])
        while let next = open.popFirst() {
            own.insert(next)
            let found = try dependencies(of: next, in: targets)
            open.formUnion(found.own.subtracting(own))
            products.formUnion(found.products)
        }
        return (own, products)
    }

    @Test func theServerDoesNotReachTheEnvelope() throws {
        let targets = try targets()
        let below: Set<String> = [
            "SealSystem", "SealPrimitives", "SealStatements", "SealWire", "SealCoding", "SealSchema", "SealQuery",
        ]
        #expect(try graph(of: "SealStorage", in: targets).own == ["SealStorage", "SealSystem"])
        #expect(try graph(of: "SealService", in: targets).own == below.union(["SealStorage", "SealService"]))
        #expect(
            try graph(of: "SealServer", in: targets).own == below.union(["SealStorage", "SealService", "SealServer"]))
        // The same reading finds the envelope where it is.
        #expect(try dependencies(of: "SealKit", in: targets).own.contains("SealEnvelope"))
    }

    /// What a client judges is bytes and values alone, as the core is: a browser has nothing else.
    @Test func theClientStandsOnTheCoreAlone() throws {
        let graph = try graph(of: "SealClient", in: try targets())
        #expect(graph.own == ["SealPrimitives", "SealStatements", "SealEnvelope", "SealClient"])
        #expect(graph.products.isEmpty)
    }

    /// The vectors' people have secrets that everybody knows.
    @Test(arguments: ["SealKit", "SealServer"]) func noVectorsAreShipped(_ target: String) throws {
        let targets = try targets()
        #expect(try graph(of: target, in: targets).own.isDisjoint(with: ["SealVectors", "SealVectorChecks"]))
        // The same reading finds them where they are.
        #expect(try graph(of: "sealkit", in: targets).own.contains("SealVectors"))
    }

    /// An app gets the server into its tests, and into nothing else.
    @Test func onlyWhatTestsAppsHasSDKAndServer() throws {
        let targets = try targets()
        #expect(try graph(of: "SealKit", in: targets).own.isDisjoint(with: ["SealServer", "SealKitTesting"]))
        #expect(try graph(of: "SealServer", in: targets).own.isDisjoint(with: ["SealKit", "SealKitTesting"]))
        // The same reading finds both where they are.
        #expect(try graph(of: "SealKitTesting", in: targets).own.isSuperset(of: ["SealKit", "SealServer"]))
    }

    /// CloudKit's names are a face of the SDK: what encrypts, verifies and speaks to a server is below, and none of it
    /// is known there.
    @Test func cloudKitStandsOnTheSDKAlone() throws {
        let targets = try targets()
        let direct = try dependencies(of: "CloudKit", in: targets)
        #expect(direct.own == ["SealKit"])
        #expect(direct.products.isEmpty)
        let users = targets.matches(of: /"CloudKit"[,\]]/).count
        // Its own target and the tests of it, what measures it, an app of it with its command and tests, and the
        // tutorials with theirs.
        #expect(users == 8)
        let folder = root.appendingPathComponent("Sources/CloudKit")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var read = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            read += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            let lines = /^(?:@_exported )?(?:public )?import (\w+)/.anchorsMatchLineEndings()
            let imports = Set(text.matches(of: lines).map { String($0.1) })
            #expect(
                imports.isSubset(of: ["Foundation", "SealKit", "Synchronization"]), "\(file.lastPathComponent)")
        }
        #expect(read > 20)
    }

    @Test func storageAndRulesKnowNothingOfHTTP() throws {
        let targets = try targets()
        #expect(try graph(of: "SealStorage", in: targets).products.isDisjoint(with: Self.http))
        #expect(try graph(of: "SealService", in: targets).products.isDisjoint(with: Self.http))
        // The same reading finds it where it is.
        #expect(try graph(of: "SealServer", in: targets).products.isSuperset(of: Self.http))
    }

    @Test(arguments: ["SealStorage", "SealService", "SealServer"])
    func noFileOfTheServerImportsIt(_ target: String) throws {
        let folder = root.appendingPathComponent("Sources/\(target)")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var read = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            read += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains("import SealEnvelope"), "\(file.lastPathComponent)")
            #expect(!text.contains("import SealKit"), "\(file.lastPathComponent)")
            guard target != "SealServer" else { continue }
            for module in Self.http { #expect(!text.contains("import \(module)"), "\(file.lastPathComponent)") }
        }
        #expect(read > 20)
    }
}
