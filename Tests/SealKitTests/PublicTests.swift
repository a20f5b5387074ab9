import Foundation
import SealCoding
import SealEnvelope
import SealLab
import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct PublicTests {
    func note(_ body: String, name: String = "note-\(UUID().uuidString)") -> Record {
        var record = Record(recordType: "Post", recordID: Record.ID(recordName: name))
        record["body"] = body
        return record
    }

    func text(_ key: String, of id: Record.ID, in database: Database) async throws -> String? {
        try await database.record(for: id)[key]
    }

    /// Somebody without an account.
    func world(_ person: Person, _ rewrite: RewritingTransport.Rewrite? = nil, trust: TrustStore? = nil) throws
        -> Database
    {
        let http = try HTTPTransport(server: person.server.origin)
        let transport: any Transport = if let rewrite { RewritingTransport(http, rewrite) } else { http }
        return try Container(person.container.containerIdentifier, transport: transport, trust: trust).publicDatabase
    }

    /// The same, whose look-ups are answered with what `change` makes of the real answer.
    func deceived(
        _ person: Person, trust: TrustStore? = nil,
        _ change: @escaping @Sendable (inout Sealkit_V1_LookupRecordsResponse) throws -> Void
    ) throws -> Database {
        try world(
            person,
            { path, body in
                guard path.hasSuffix("records/lookup") else { return body }
                var answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: body)
                try change(&answer)
                return try answer.serializedData()
            }, trust: trust)
    }

    @Test func whatSomebodySavesEverybodyReads() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        var saved = try await ann.container.publicDatabase.save(note("first"))
        #expect(saved.recordChangeTag != nil)
        #expect(saved.creatorUserRecordID?.recordName == ann.name)
        let world = try world(ann)
        for database in [bob.container.publicDatabase, world] {
            let found = try await database.record(for: saved.recordID)
            #expect(found["body"] == "first")
            #expect(found.lastModifiedUserRecordID?.recordName == ann.name)
        }
        saved["body"] = "second"
        saved = try await ann.container.publicDatabase.save(saved)
        #expect(try await text("body", of: saved.recordID, in: world) == "second")
        let partial = try await world.records(for: [saved.recordID], desiredKeys: [])[saved.recordID]?.get()
        #expect(partial?.omittedKeys == ["body"])
        try await ann.container.publicDatabase.deleteRecord(withID: saved.recordID)
        #expect(await failure { _ = try await world.record(for: saved.recordID) } == .unknownItem)
        // Gone is gone: deleting it again is a success, and the name is free for a new record.
        try await ann.container.publicDatabase.deleteRecord(withID: saved.recordID)
        let again = try await bob.container.publicDatabase.save(note("again", name: saved.recordID.recordName))
        #expect(again.creatorUserRecordID?.recordName == bob.name)
        #expect(try await text("body", of: saved.recordID, in: world) == "again")
    }

    @Test func savePoliciesAndConflictsAreThoseOfZones() async throws {
        let ann = try await Person()
        let database = ann.container.publicDatabase
        let first = try await database.save(note("first"))
        var mine = first
        mine["mine"] = 1 as Int64
        var theirs = first
        theirs["theirs"] = 2 as Int64
        theirs = try await database.save(theirs)
        do {
            try await database.save(mine)
            Issue.record("an outdated record was saved")
        } catch {
            #expect(error.code == .serverRecordChanged)
            #expect(error.serverRecord?["theirs"] == 2 as Int64)
        }
        #expect(
            await failure { try await database.save(note("other", name: first.recordID.recordName)) }
                == .serverRecordChanged)
        let results = try await database.modifyRecords(saving: [mine], savePolicy: .changedKeys)
        let merged = try #require(try results.saveResults[first.recordID]?.get())
        #expect(merged["mine"] == 1 as Int64)
        #expect(merged["theirs"] == 2 as Int64)
        #expect(merged["body"] == "first")
        let batch = try await database.modifyRecords(saving: [note("a"), note("b", name: first.recordID.recordName)])
        #expect(
            batch.saveResults.values.compactMap(\.failureCode).sorted { $0.rawValue < $1.rawValue } == [
                .serverRecordChanged
            ])
    }

    @Test func onlyTheCreatorWritesAndOnlyWithAnAccount() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let saved = try await ann.container.publicDatabase.save(note("hers"))
        var changed = try await bob.container.publicDatabase.record(for: saved.recordID)
        changed["body"] = "his"
        let sentChanged = changed
        #expect(await failure { try await bob.container.publicDatabase.save(sentChanged) } == .permissionFailure)
        #expect(
            await failure { try await bob.container.publicDatabase.deleteRecord(withID: saved.recordID) }
                == .permissionFailure)
        let world = try Container(
            ann.container.containerIdentifier, transport: HTTPTransport(server: ann.server.origin))
        #expect(await failure { try await world.publicDatabase.save(note("nobody's")) } == .notAuthenticated)
        #expect(await failure { _ = try await world.userRecord() } == .notAuthenticated)
        #expect(await failure { _ = try await world.privateDatabase.allRecordZones() } == .notAuthenticated)
        #expect(await failure { _ = try await world.sharedDatabase.databaseChanges() } == .notAuthenticated)
        #expect(try await world.accountStatus() == .noAccount)
        #expect(await failure { _ = try world.userRecordID() } == .notAuthenticated)
        #expect(try await text("body", of: saved.recordID, in: world.publicDatabase) == "hers")
    }

    @Test func whatCannotBePublicIsNotSent() async throws {
        let ann = try await Person()
        let counter = RewritingTransport(try HTTPTransport(server: ann.server.origin)) { path, body in
            if path.contains("/public/") { Issue.record("sent: \(path)") }
            return body
        }
        let watched = try ann.through(counter)
        var sealed = note("body")
        sealed.encryptedValues["secret"] = "s"
        let sentSealed = sealed
        #expect(await failure { try await watched.container.publicDatabase.save(sentSealed) } == .invalidArguments)
        let zoned = Record(
            recordType: "Post", recordID: Record.ID(recordName: "a", zoneID: RecordZone.ID(zoneName: "Notes")))
        #expect(await failure { try await watched.container.publicDatabase.save(zoned) } == .badDatabase)
        let share = Record(recordType: "cloudkit.share", recordID: Record.ID(recordName: "s"))
        #expect(await failure { try await watched.container.publicDatabase.save(share) } == .badDatabase)
        _ = try await ann.makeZone(RecordZone.defaultName)
        let own = try await ann.own.save(note("private"))
        #expect(await failure { try await watched.container.publicDatabase.save(own) } == .invalidArguments)
        #expect(
            await failure { _ = try await watched.container.publicDatabase.record(for: zoned.recordID) } == .badDatabase
        )
    }

    @Test func queriesAreForEverybodyAndVerified() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        // A type of its own: other tests' records are in the same database.
        let type = "Place\(UUID().uuidString.prefix(8))"
        for (person, city) in [(ann, "Berlin"), (bob, "Bonn")] {
            var record = Record(recordType: type)
            record["city"] = city
            try await person.container.publicDatabase.save(record)
        }
        let query = Query(recordType: type, predicate: try Query.Predicate("city BEGINSWITH %@", "Bo"))
        let world = try world(ann)
        let found = try await world.records(matching: query)
        #expect(try found.matchResults.map { try $0.1.get().plainValue("city") } == [.string("Bonn")])
        let forged = try self.world(
            ann,
            { path, body in
                guard path.hasSuffix("records/query") else { return body }
                var answer = try Sealkit_V1_QueryRecordsResponse(serializedBytes: body)
                answer.matches[0].record.fields[0].plain.string = "Bonn am Rhein"
                return try answer.serializedData()
            })
        #expect(try await forged.records(matching: query).matchResults.map(\.1.failureCode) == [.integrityFailure])
        let nameless = try self.world(
            ann,
            { path, body in
                guard path.hasSuffix("records/query") else { return body }
                var answer = try Sealkit_V1_QueryRecordsResponse(serializedBytes: body)
                answer.authors = []
                return try answer.serializedData()
            })
        #expect(try await nameless.records(matching: query).matchResults.map(\.1.failureCode) == [.integrityFailure])
    }

    @Test func nobodySignsAfterSystemFieldsThatDoNotHold() async throws {
        let ann = try await Person()
        let database = ann.container.publicDatabase
        var saved = try await database.save(note("first"))
        var kept = try Record(systemFields: saved.encodeSystemFields())
        kept["more"] = "second"
        kept = try await database.save(kept)
        #expect(kept.plainValue("more") == .string("second"))
        // Somebody else's change in between is a conflict, not something to sign over.
        saved = kept
        let old = try Record(systemFields: saved.encodeSystemFields())
        saved["more"] = "third"
        try await database.save(saved)
        var late = old
        late["more"] = "late"
        let sent = late
        #expect(await failure { try await database.save(sent) } == .serverRecordChanged)
    }

    @Test func everybodyHasARecordOfTheirOwn() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        var own = try await ann.container.userRecord()
        #expect(own.recordType == "Users")
        #expect(own.recordID.recordName == ann.name)
        #expect(try await ann.container.userRecord().recordChangeTag == own.recordChangeTag)
        own["nickname"] = "Ann"
        own = try await ann.container.publicDatabase.save(own)
        var seen = try await bob.container.publicDatabase.record(for: own.recordID)
        #expect(seen["nickname"] == "Ann")
        seen["nickname"] = "Bob was here"
        let sentSeen = seen
        #expect(await failure { try await bob.container.publicDatabase.save(sentSeen) } == .permissionFailure)
    }

    /// As in CloudKit an app asks for it without making it, in both databases; nobody else's is made by asking.
    @Test func onesOwnRecordIsThereWithoutBeingMade() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let id = try ann.container.userRecordID()
        #expect(await failure { _ = try await bob.container.publicDatabase.record(for: id) } == .unknownItem)
        #expect(await failure { _ = try await world(ann).record(for: id) } == .unknownItem)
        // Two devices at once: one record.
        let desk = try ann.onFreshDevice()
        async let onDesk = desk.container.publicDatabase.record(for: id)
        async let onPhone = ann.container.publicDatabase.records(
            for: [id, Record.ID(recordName: "none")], desiredKeys: [])
        let (first, second) = (try await onDesk, try await onPhone)
        var own = try #require(try second[id]?.get())
        #expect(own.recordType == "Users")
        #expect(own.recordChangeTag == first.recordChangeTag)
        #expect(second[Record.ID(recordName: "none")]?.failureCode == .unknownItem)
        own["nickname"] = "Ann"
        own = try await ann.container.publicDatabase.save(own)
        #expect(try await text("nickname", of: id, in: world(ann)) == "Ann")
        #expect(try await ann.container.userRecord()["nickname"] == "Ann")
        // The private one is another, and can hold what is sealed.
        var kept = try await ann.own.record(for: id)
        #expect(kept.recordType == "Users")
        #expect(kept.recordChangeTag != own.recordChangeTag)
        kept.encryptedValues["theme"] = "dark"
        try await ann.own.save(kept)
        let found = try await desk.own.record(for: id)
        #expect(found.encryptedValues["theme"] == "dark")
        // Once deleted it is there again, empty.
        try await ann.container.publicDatabase.deleteRecord(withID: id)
        #expect(await failure { _ = try await bob.container.publicDatabase.record(for: id) } == .unknownItem)
        #expect(try await text("nickname", of: id, in: ann.container.publicDatabase) == nil)
    }

    // MARK: Assets

    @Test(arguments: [0, 1, 65_536, 65_537, 3_000_000])
    func assetsTravelAsTheyAreAndAreChecked(size: Int) async throws {
        let ann = try await Person()
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("photo")
        let bytes = pattern(size)
        try bytes.write(to: file)
        var record = note("with a photo")
        record["photo"] = Asset(fileURL: file)
        record = try await ann.container.publicDatabase.save(record)
        let found = try await world(ann).record(for: record.recordID)
        let asset: Asset = try #require(found["photo"])
        #expect(asset.size == UInt64(size))
        #expect(!asset.isSealed)
        #expect(try Data(contentsOf: try #require(asset.fileURL)) == bytes)
        // Saved again, the asset is carried over, and stays whole.
        record["body"] = "changed"
        record = try await ann.container.publicDatabase.save(record)
        let again: Asset = try #require(try await world(ann).record(for: record.recordID)["photo"])
        #expect(try Data(contentsOf: try #require(again.fileURL)) == bytes)
    }

    @Test func anAssetThatTheServerSwappedIsRefused() async throws {
        let ann = try await Person()
        let folder = try TemporaryFolder()
        var records: [Record] = []
        for name in ["one", "two"] {
            let file = folder.url.appendingPathComponent(name)
            try Data(repeating: name == "one" ? 1 : 2, count: 100_000).write(to: file)
            var record = note(name)
            record["photo"] = Asset(fileURL: file)
            records.append(try await ann.container.publicDatabase.save(record))
        }
        let other = try #require((records[1]["photo"] as Asset?)?.remote?.blob)
        // The blob's name is the server's own word: another's bytes do not have the root that was signed.
        let deceived = try deceived(ann) { $0.results[0].record.fields[1].publicAsset.blob = other }
        let sentRecords = records
        #expect(await failure { _ = try await deceived.record(for: sentRecords[0].recordID) } == .integrityFailure)
    }
}
