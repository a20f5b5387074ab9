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

/// What a device keeps of what did not verify, and what it can say about the rest.
@Suite(.timeLimit(.minutes(60))) struct AuditTests {
    let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    func hostile(_ person: Person, _ rewrite: @escaping RewritingTransport.Rewrite) throws -> Person {
        try person.through(RewritingTransport(HTTPTransport(server: person.server.origin), rewrite))
    }

    // MARK: A clean account

    @Test func anAuditShowsRostersKeysAndContacts() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite), (carol, .readOnly)])
        try await ann.own.save(ann.note(in: zone.zoneID, "old"))
        let empty = try await ann.makeZone()
        try await zone.remove(carol)
        var share = try await ann.own.share(for: zone.zoneID)
        share.addParticipant(
            try await ann.container.shareParticipant(
                forEmailAddress: "someone-\(UUID().uuidString.prefix(8))@example.org"))
        try await ann.own.save(share)
        let audit = try await ann.container.audit()
        #expect(audit.outcome == .clean)
        #expect(audit.failures.isEmpty)
        #expect(audit.violations.isEmpty)
        #expect(Set(audit.scopes.map(\.zoneID)) == [zone.zoneID, empty])
        let scope = try #require(audit.scopes.first { $0.zoneID == zone.zoneID })
        let roster = try await zone.view(of: ann).roster
        #expect(scope.head == roster.head.hex)
        #expect(scope.entryCount == roster.hashes.count)
        #expect(scope.memberCount == 2)
        #expect(scope.invitationCount == 1)
        #expect(scope.abandonedForks == 0)
        // The note and the share's record are under the key that Carol had.
        #expect(scope.keys.newestEpoch == 1)
        #expect(scope.keys.oldestEpochInUse == 0)
        #expect(scope.keys.staleRecordCount == 2)
        #expect(scope.heldEpochs == 2)
        #expect(scope.badGrants.isEmpty)
        #expect(scope.uncovered.isEmpty)
        #expect(scope.shareRecordName == nil)
        #expect(Set(audit.contacts.map(\.userRecordID.recordName)) == [bob.name, carol.name])
        // Whoever joined sees the same roster; whoever was removed sees none, and no fault in that.
        let bobs = try await bob.container.audit()
        #expect(bobs.outcome == .clean)
        #expect(bobs.scopes.map(\.head) == [scope.head])
        let carols = try await carol.container.audit()
        #expect(carols.outcome == .clean)
        #expect(carols.scopes.isEmpty)
        try await ann.own.rekey(zone.zoneID)
        let after = try await ann.container.audit().scopes.first { $0.zoneID == zone.zoneID }
        #expect(after?.keys.oldestEpochInUse == 1)
        #expect(after?.keys.staleRecordCount == 0)
        try await ann.own.deleteRecordZone(withID: empty)
        let rest = try await ann.container.audit()
        #expect(rest.outcome == .clean)
        #expect(rest.scopes.count == 1)
    }

    // MARK: What did not verify

    @Test func whatDoesNotVerifyIsKeptUntilTheUserForgetsIt() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var note = try await ann.own.save(ann.note(in: zone, "one", name: "note"))
        let recording = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        _ = try await ann.through(recording).own.record(for: note.recordID)
        let old = try #require(recording.records().first)
        note.encryptedValues["body"] = "two"
        try await ann.own.save(note)
        let deceived = try ann.through(
            RewritingTransport.showing([old], before: try HTTPTransport(server: ann.server.origin)))
        for _ in 0..<2 {
            #expect(await failure { _ = try await deceived.own.record(for: note.recordID) } == .rollback)
        }
        // On disk, for another process and another day; the same once.
        let kept = try await ann.container.violations()
        #expect(kept.count == 1)
        let violation = try #require(kept.first)
        #expect(violation.code == .rollback)
        #expect(violation.recordName == "note")
        #expect(violation.zoneID == zone)
        #expect(violation.reason.contains("older revision"))
        #expect(violation.firstSeen < violation.lastSeen)
        let audit = try await ann.container.audit()
        #expect(audit.outcome == .violated)
        #expect(audit.violations == kept)
        #expect(audit.failures.isEmpty)
        // Another account's store, and another container of this one, have none of it.
        let other = try await Container("org.example.other", account: ann.account, trust: ann.container.core.trust)
            .violations()
        #expect(other.isEmpty)

        var altered = old
        altered.fields[0].encrypted.sealed.append(7)
        let forger = try ann.through(
            RewritingTransport.showing([altered], before: try HTTPTransport(server: ann.server.origin)))
        #expect(await failure { _ = try await forger.own.record(for: note.recordID) } == .integrityFailure)
        try await ann.container.forget(kept)
        let newer = try await ann.container.violations()
        #expect(newer.map(\.code) == [.integrityFailure])
        try await ann.container.forget(newer)
        try await ann.container.forget([])
        #expect(try await ann.container.audit().outcome == .clean)
    }

    /// Each place where something is verified: what fails there is kept too.
    @Test func everyWayOfReadingKeepsWhatItRefuses() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readOnly)])
        let file = temporary.url.appendingPathComponent("file")
        try pattern(70_000).write(to: file)
        var note = ann.note(in: zone.zoneID, "body", name: "note")
        note["file"] = Asset(fileURL: file)
        note = try await ann.own.save(note)
        let noteID = note.recordID

        func expect(
            _ code: SealKitError.Code, _ words: String, _ rewrite: @escaping RewritingTransport.Rewrite,
            _ body: (Person) async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            try await ann.container.forget(try await ann.container.violations())
            let deceived = try hostile(ann, rewrite)
            let found = await failure { try await body(deceived) }
            #expect(found == code, sourceLocation: sourceLocation)
            let kept = try await ann.container.violations()
            #expect(
                kept.count == 1 && kept[0].code == code && kept[0].reason.contains(words), "\(kept)",
                sourceLocation: sourceLocation)
        }

        try await expect(.integrityFailure, "does not say which roster") { path, body in
            guard path.hasSuffix("records/changes") else { return body }
            var answer = try Sealkit_V1_RecordChangesResponse(serializedBytes: body)
            answer.scopes = []
            return try answer.serializedData()
        } _: { person in
            _ = try await person.own.recordZoneChanges(inZoneWith: zone.zoneID)
        }
        try await expect(.rollback, "no longer shows record note") { path, body in
            guard path.hasSuffix("records/lookup") else { return body }
            var answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: body)
            answer.results = answer.results.map { _ in .with { $0.failure = Sealkit_V1_Failure(.unknownItem, "gone") } }
            return try answer.serializedData()
        } _: { person in
            _ = try await person.own.record(for: noteID)
        }
        try await expect(.rollback, "nothing signed that ended it") { path, body in
            if path.hasSuffix("rosters/fetch") {
                var answer = try Sealkit_V1_FetchRostersResponse(serializedBytes: body)
                answer.rosters = [.with { $0.failure = Sealkit_V1_Failure(.zoneNotFound, "gone") }]
                return try answer.serializedData()
            }
            guard path.hasSuffix("zones/lookup") else { return body }
            var answer = try Sealkit_V1_LookupZonesResponse(serializedBytes: body)
            answer.results = answer.results.map { _ in .with { $0.failure = Sealkit_V1_Failure(.zoneNotFound, "gone") }
            }
            return try answer.serializedData()
        } _: { person in
            _ = try await person.own.recordZone(for: zone.zoneID)
        }
        try await expect(.integrityFailure, "roster of the zone") { path, body in
            guard path.hasSuffix("rosters/fetch") else { return body }
            var answer = try Sealkit_V1_FetchRostersResponse(serializedBytes: body)
            let view = try await zone.view(of: ann)
            let entry = ann.container.core.author.plain(.leave, on: view.roster, time: 1).entry
            answer.rosters[0].entries = [entry.wire]
            return try answer.serializedData()
        } _: { person in
            try await zone.view(of: person)
        }
        try await expect(.integrityFailure, "identity") { path, body in
            guard path.hasSuffix("directory/lookup") else { return body }
            var answer = try Sealkit_V1_LookupIdentitiesResponse(serializedBytes: body)
            answer.results[0].chain = ann.container.core.identity().chain.wire
            return try answer.serializedData()
        } _: { person in
            _ = try await person.container.shareParticipant(forUserRecordID: bob.container.userRecordID())
        }
        try await expect(.integrityFailure, "kept share URL") { path, body in
            guard path.hasSuffix("links/fetch") else { return body }
            var answer = try Sealkit_V1_LinksResponse(serializedBytes: body)
            answer.links[0].keptSecret[30] ^= 1
            return try answer.serializedData()
        } _: { person in
            _ = try await person.own.share(for: zone.zoneID)
        }

        // An asset's bytes, which no message carries.
        try await ann.container.forget(try await ann.container.violations())
        let found = try await ann.own.fetchingAssets(.onDemand).record(for: noteID)
        let asset: Asset? = found["file"]
        let remote = try #require(asset?.remote)
        let sealed = try #require(remote.sealed)
        var root = sealed.root.bytes
        root[0] ^= 1
        let swapped = SealedAsset(
            fileKey: sealed.fileKey, size: sealed.size, salt: sealed.salt, chunkCount: sealed.chunkCount,
            root: try Digest(root))
        let wrong = Asset(
            remote: Asset.Remote(content: .sealed(swapped), blob: remote.blob, recordID: noteID, key: "file"))
        let copy = temporary.url.appendingPathComponent("copy")
        #expect(await failure { try await ann.own.download(wrong, of: noteID, to: copy) } == .integrityFailure)
        let kept = try await ann.container.violations()
        #expect(kept.map(\.recordName) == ["note"])
    }

    @Test func theStoreKeepsTheNewestThousandAndShortensWhatIsLong() async throws {
        let store = try TrustStore()
        for number in 0..<(TrustStore.mostViolations + 5) {
            try await store.note(
                .rollback, "violation \(number) " + String(repeating: "x", count: 2_000), container: "c",
                environment: .development,
                zone: nil, record: nil, time: Int64(number))
        }
        let rows = try await store.violations(container: "c", environment: .development)
        #expect(rows.count == TrustStore.mostViolations)
        #expect(rows.first?.last == Int64(TrustStore.mostViolations + 4))
        #expect(rows.last?.reason.hasPrefix("violation 5 ") == true)
        #expect(rows.allSatisfy { $0.reason.utf8.count == 500 })
    }

    /// Whoever has looked at those of one environment, or container, has not looked at those of another.
    @Test func violationsAreForgottenWhereTheyWereLookedAt() async throws {
        let store = try TrustStore()
        let places: [(String, SealStatements.Environment)] = [
            ("a", .development), ("a", .production), ("b", .development),
        ]
        for (container, environment) in places {
            try await store.note(
                .rollback, "seen", container: container, environment: environment, zone: nil, record: nil, time: 1)
        }
        try await store.note(
            .rollback, "later", container: "a", environment: .development, zone: nil, record: nil, time: 3)
        try await store.forgetViolations(container: "a", environment: .development, until: 2)
        var left: [[String]] = []
        for (container, environment) in places {
            left.append(try await store.violations(container: container, environment: environment).map(\.reason))
        }
        #expect(left == [["later"], ["seen"], ["seen"]])
    }

    @Test func errorsThatAreNoViolationAreNotKept() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        #expect(
            await failure { _ = try await ann.own.record(for: Record.ID(recordName: "none", zoneID: zone)) }
                == .unknownItem)
        #expect(
            await failure { _ = try await ann.own.recordZone(for: RecordZone.ID(zoneName: "none")) } == .zoneNotFound)
        #expect(
            await failure { _ = try await ann.container.shareMetadata(for: "https://example.org/s/x#y") }
                == .invalidArguments)
        let violations = try await ann.container.violations()
        #expect(violations.isEmpty)
    }
}
