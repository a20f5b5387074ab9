import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// Exports of what one has made in the public database, from servers that lie.
extension DataArchiveTests {
    /// Exports through a server whose answers about one's own records are rewritten.
    private func export(
        _ person: Person, to name: String,
        _ change: @escaping @Sendable (inout Sealkit_V1_CreatedRecordsResponse) throws -> Void
    ) async throws -> (export: Container.DataExport, about: ArchiveFormat.Zone, lines: String) {
        let network = try HostileNetwork(person.server)
        network.rewrite("records/created", Sealkit_V1_CreatedRecordsResponse.self, change)
        let folder = temporary.url.appendingPathComponent(name)
        let export = try await person.onFreshDevice(transport: network).container.exportData(to: folder)
        let zone = try #require(try manifest(folder).zones.first)
        return (
            export, try ArchiveReader(folder: folder).zone(zone),
            try String(contentsOf: folder.appendingPathComponent("zones/1/records.jsonl"), encoding: .utf8)
        )
    }

    /// A record that Bob signs, with Ann as its creator.
    private func forged(by bob: Person, creator: UserID, from record: Record, revision: UInt64) throws
        -> Sealkit_V1_Record
    {
        var statement = try #require(record.base?.statement)
        (statement.creator, statement.author) = (creator, bob.container.core.userID())
        (statement.recordName, statement.revision, statement.salt) = ("~forged", revision, .zero)
        if revision > 1 { statement.previous = try Digest([UInt8](repeating: 1, count: 32)) }
        let field = try StoredField.plain(.string("forged")).digest(name: "body")
        statement.fieldsDigest = try FieldSet.digest([FieldDigest(name: "body", digest: field)])
        let bytes = statement.canonicalBytes()
        let signature = bob.container.core.identity().keys.signingKey.sign(
            StatementTree.signedBytes(root: Statement.hash(bytes), leafCount: 1))
        return .with {
            ($0.recordName, $0.recordType, $0.statement) = (statement.recordName, statement.recordType, Data(bytes))
            $0.proof = StatementProof(signature: signature, leafCount: 1, index: 0, path: []).wire
            $0.fields = [
                .with {
                    $0.name = "body"
                    $0.plain.string = "forged"
                }
            ]
        }
    }

    @Test func onlyWhatThisUserMadeIsTaken() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let hers = try await ann.container.publicDatabase.save(post("hers", name: "1-\(UUID().uuidString)"))
        let his = try await bob.container.publicDatabase.save(post("his", name: "2-\(UUID().uuidString)"))
        let gone = try await ann.container.publicDatabase.save(post("gone", name: "3-\(UUID().uuidString)"))
        try await ann.container.publicDatabase.deleteRecord(withID: gone.recordID)
        let recorder = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        let world = try Container(ann.container.containerIdentifier, transport: recorder).publicDatabase
        _ = try await world.records(for: [his.recordID])
        _ = try await world.records(for: [gone.recordID])
        let (foreign, tombstone) = (recorder.records()[0], recorder.records()[1])
        let bobs = bob.container.core.identity().chain.wire
        let honest = try await export(ann, to: "honest") { _ in }
        #expect(honest.export.records == 1)
        #expect(honest.export.unreadable == 0)
        #expect(honest.about.unreadable.isEmpty)

        func adding(_ name: String, _ record: Sealkit_V1_Record) -> Sealkit_V1_RecordResult {
            .with { ($0.recordName, $0.record) = (name, record) }
        }
        // Signed by Bob as the first version of a record of Ann's, and by Bob in his own name: the one is no statement,
        // the other one is good but for whose it is.
        let first = try forged(by: bob, creator: ann.container.core.userID(), from: his, revision: 1)
        let owned = try forged(by: bob, creator: bob.container.core.userID(), from: his, revision: 1)
        for (index, result) in [
            adding(his.recordID.recordName, foreign), adding(gone.recordID.recordName, tombstone),
            adding("~forged", first),
            adding("~forged", owned), adding("2-other", foreign),
        ].enumerated() {
            let lied = try await export(ann, to: "lie-\(index)") { answer in
                answer.results.append(result)
                answer.authors.append(bobs)
            }
            #expect(lied.export.records == 1, "lie \(index)")
            #expect(lied.export.unreadable == 1, "lie \(index)")
            #expect(lied.about.unreadable.map(\.recordName) == [result.recordName], "lie \(index)")
            #expect(lied.about.unreadable.map(\.code) == [SealKitError.Code.integrityFailure.rawValue], "lie \(index)")
            #expect(lied.lines.contains("hers"), "lie \(index)")
            #expect(!lied.lines.contains("forged"), "lie \(index)")
            #expect(!lied.lines.contains("his"), "lie \(index)")
        }
        let altered = try await export(ann, to: "altered") { $0.results[0].record.fields[0].plain.string = "forged" }
        #expect(altered.export.records == 0)
        #expect(altered.about.unreadable.map(\.recordName) == [hers.recordID.recordName])
        // What a later version says of the first one is its author's word (SECURITY.md): the honest server holds it
        // against the first.
        let later = try forged(by: bob, creator: ann.container.core.userID(), from: his, revision: 2)
        let believed = try await export(ann, to: "later") { answer in
            answer.results.append(.with { ($0.recordName, $0.record) = ("~forged", later) })
            answer.authors.append(bobs)
        }
        #expect(believed.export.records == 2)
        #expect(believed.lines.contains(bob.name))
    }

    @Test func whatMayNotBeReadIsNamed() async throws {
        let ann = try await Person()
        let names = ["a", "b", "c"].map { "\($0)-\(UUID().uuidString)" }
        for name in names { try await ann.container.publicDatabase.save(post("text", name: name)) }
        let refused = try await export(ann, to: "refused") {
            $0.results[1].failure = Sealkit_V1_Failure(.permissionFailure, "not for its creator")
        }
        #expect(refused.export.records == 2)
        #expect(refused.export.unreadable == 1)
        #expect(refused.about.unreadable.map(\.recordName) == [names[1]])
        #expect(refused.about.unreadable.map(\.code) == [SealKitError.Code.permissionFailure.rawValue])
    }

    @Test func aServerThatGoesInCirclesEndsTheExport() async throws {
        let ann = try await Person()
        for name in ["a", "b", "c"] {
            try await ann.container.publicDatabase.save(post("text", name: "\(name)-\(UUID().uuidString)"))
        }
        typealias Lie = @Sendable (inout Sealkit_V1_CreatedRecordsResponse) throws -> Void
        let count = Mutex(0)
        let first = Mutex<Sealkit_V1_CreatedRecordsResponse?>(nil)
        let lies: [(String, SealKitError.Code, Lie)] = [
            (
                "the first page again", .serverRejectedRequest,
                { answer in
                    answer = first.withLock { kept in
                        kept = kept ?? answer
                        return kept ?? answer
                    }
                    answer.moreComing = true
                }
            ),
            ("twice the same", .serverRejectedRequest, { $0.results.append($0.results[2]) }),
            ("another order", .serverRejectedRequest, { $0.results.swapAt(0, 1) }),
            ("no name", .integrityFailure, { $0.results[0].recordName = "" }),
            ("a name that is none", .integrityFailure, { $0.results[2].recordName += "\u{0}" }),
            (
                "nothing, and more", .serverRejectedRequest,
                { answer in
                    answer.results = []
                    answer.moreComing = true
                }
            ),
            ("nothing about a name", .serverRejectedRequest, { $0.results[1].outcome = nil }),
            (
                "another refusal", .limitExceeded,
                { $0.results[1].failure = Sealkit_V1_Failure(.limitExceeded, "no room") }
            ),
            (
                "names without end", .serverRejectedRequest,
                { answer in
                    let page = count.withLock { count in
                        count += 1
                        return count
                    }
                    answer = .with { $0.moreComing = true }
                    // As many as an answer takes.
                    answer.results = (0..<Limits.itemsPerRequest).map { number in
                        .with {
                            $0.recordName = "x\(page * Limits.itemsPerRequest + number + 100_000_000)"
                            $0.failure = Sealkit_V1_Failure(.permissionFailure, "")
                        }
                    }
                }
            ),
        ]
        for (what, code, lie) in lies {
            let network = try HostileNetwork(ann.server)
            network.rewrite("records/created", Sealkit_V1_CreatedRecordsResponse.self, lie)
            let device = try ann.onFreshDevice(transport: network)
            let found = await failure { _ = try await device.container.exportData(to: archive) }
            #expect(found == code, "\(what)")
            // Nothing is left of it.
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.url.path) == [], "\(what)")
        }
        // It was given up after a bounded number of pages.
        #expect(count.withLock { $0 } == Database.mostUnreadable / Limits.itemsPerRequest + 1)
        #expect(try await ann.container.exportData(to: archive).records == 3)
    }
}
