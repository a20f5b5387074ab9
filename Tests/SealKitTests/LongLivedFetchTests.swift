import SealLab
import SealPrimitives
import Testing

@testable import SealKit

/// Fetches that outlive their process.
@Suite(.timeLimit(.minutes(60))) struct LongLivedFetchTests {
    private func only(_ container: Container) async throws -> LongLivedFetch {
        guard case .fetchRecords(let fetch)? = try await container.longLivedOperations.first else {
            throw SealKitError(.internalError, "no fetch is kept")
        }
        return fetch
    }

    @Test func aLaterProcessFetchesWhatThereIsByThen() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        var note = try await ann.own.save(ann.note(in: zone, "before", name: "note"))
        let absent = Record.ID(recordName: "absent", zoneID: zone)
        let id = try await device.run { container in
            let begun = try await container.privateDatabase.beginFetchingRecords(
                for: [note.recordID, absent], desiredKeys: ["body"])
            return begun.operationID
        }
        note.encryptedValues["body"] = "after"
        _ = try await ann.own.save(note)
        let recordID = note.recordID
        _ = try await device.run { container in
            let fetch = try await only(container)
            #expect(fetch.operationID == id)
            #expect(fetch.recordIDs == [recordID, absent])
            #expect(fetch.desiredKeys == ["body"])
            #expect(fetch.database.scope == .private)
            let results = try await fetch.results()
            #expect(try results[recordID]?.get().encryptedValues["body"] == "after")
            #expect(results[absent]?.failureCode == .unknownItem)
            // Until it is ended it is told again.
            #expect(try await fetch.results().count == 2)
            try await fetch.end()
            try await fetch.end()
            #expect(try await container.longLivedOperations.isEmpty)
        }
    }

    /// What keeps it from going on is no end of it.
    @Test func withoutANetworkItStays() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        let note = try await ann.own.save(ann.note(in: zone, "x", name: "note"))
        _ = try await device.run { container in
            try await container.privateDatabase.beginFetchingRecords(for: [note.recordID])
        }
        // The first request of all does not get there.
        let fate = Fate(end: 1)
        _ = try await device.run(fate) { container in _ = try await only(container).results() }
        let isThere = try await device.run { container in
            try await only(container).results()[note.recordID]?.isSuccess
        }
        #expect(isThere == true)
    }

    /// Nor is a network that is gone between the records and their files.
    @Test func withoutAFilesBytesItStays() async throws {
        let ann = try await Person()
        let (zone, folder) = (try await ann.makeZone(), try TemporaryFolder())
        let note = try await ann.saveFile("note", in: zone, bytes: 1_000, folder: folder.url)
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "/assets/", Array(repeating: .request, count: 100))
        let device = try MortalDevice(ann, transport: network)
        let id = note.recordID
        _ = try await device.run { container in
            let fetch = try await container.privateDatabase.beginFetchingRecords(for: [id])
            #expect(await failure { _ = try await fetch.results() } == .networkFailure)
            #expect(try await LongLivedOperation.fetchRecords(fetch).finished == nil)
        }
        network.lose([])
        _ = try await device.run { container in
            let fetch = try await only(container)
            #expect(try await fetch.results()[id]?.isSuccess == true)
            #expect(try await LongLivedOperation.fetchRecords(fetch).finished != nil)
        }
    }

    @Test func itHasOneTurnAtATimeAndKnowsWhenItHasFinished() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let device = try MortalDevice(ann)
        let note = try await ann.own.save(ann.note(in: zone, "x", name: "note"))
        _ = try await device.run { container in
            let fetch = try await container.privateDatabase.beginFetchingRecords(for: [note.recordID])
            let operation = LongLivedOperation.fetchRecords(fetch)
            #expect(try await operation.finished == nil)
            let journal = try #require(container.core.journal)
            let id = try ID16(try Hex.decode(fetch.operationID))
            try journal.claim(id)
            #expect(await failure { _ = try await fetch.results() } == .constraintViolation)
            #expect(try await operation.finished == nil)
            journal.release(id)
            _ = try await fetch.results()
            let finished = try #require(try await operation.finished)
            _ = try await fetch.results()
            #expect(try await operation.finished == finished)

            let saving = try await container.privateDatabase.beginModifyingRecords(
                saving: [ann.note(in: zone, "new", name: "new")])
            let other = LongLivedOperation.modifyRecords(saving)
            #expect(try await other.finished == nil)
            _ = try await saving.results()
            #expect(try await other.finished != nil)
            try await operation.end()
            try await other.end()
            #expect(try await container.longLivedOperations.isEmpty)
        }
    }

    @Test func whatIsNotBegun() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let ids = (0...400).map { Record.ID(recordName: "\($0)", zoneID: zone) }
        // A container without a journal.
        #expect(await failure { _ = try await ann.own.beginFetchingRecords(for: [ids[0]]) } == .invalidArguments)
        let device = try MortalDevice(ann)
        _ = try await device.run { container in
            let database = container.privateDatabase
            let tooMany = await failure { _ = try await database.beginFetchingRecords(for: ids) }
            #expect(tooMany == .limitExceeded)
            for name in ["", "x", "00"] {
                let refused = await failure {
                    _ = try await database.beginFetchingRecords(for: [ids[0]], desiredKeys: nil, operationID: name)
                }
                #expect(refused == .invalidArguments)
            }
            let kept = try await container.longLivedOperations
            #expect(kept.isEmpty)
        }
    }
}
