import Foundation
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct SemanticsTests {
    @Test func s31_otherZonesOfTheCallCommit() async throws {
        let ann = try await Person()
        let (good, bad) = (try await ann.makeZone(), try await ann.makeZone())
        let taken = try await ann.own.save(ann.note(in: bad, "taken"))
        let records = [
            ann.note(in: good, "one"), ann.note(in: bad, "again", name: taken.recordID.recordName),
            ann.note(in: bad, "sibling"),
            ann.note(in: RecordZone.ID(zoneName: "absent"), "nowhere"),
        ]
        let results = try await ann.own.modifyRecords(saving: records).saveResults
        #expect(
            records.map { results[$0.recordID]?.failureCode } == [
                nil, .serverRecordChanged, .batchRequestFailed, .zoneNotFound,
            ])
        #expect(try await ann.own.record(for: records[0].recordID).encryptedValues["body"] == "one")
    }

    /// #3: what an app does at sign-in, with what the SDK tells it. It saves its zone, sends what the server does not
    /// have, and leaves alone what it knows to be there.
    @Test func s3_atSignInWhatWasMadeSignedOutIsSentAndNothingElse() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let known = try await ann.own.save(ann.note(in: zone, "known to this device", name: "known"))
        let archive = known.encodeSystemFields()
        try await ann.own.save(ann.note(in: zone, "of another device", name: "elsewhere"))
        let before = try await ann.own.recordZoneChanges(inZoneWith: zone)

        let accounts = AccountProvider()
        accounts.signOut()
        let container = try Container(ann.container.containerIdentifier, accounts: accounts)
        var changes = container.accountChanges.makeAsyncIterator()
        let local =
            [try Record(systemFields: archive)]
            + (0..<3).map { ann.note(in: zone, "made signed out", name: "new-\($0)") }
        #expect(
            await failure { _ = try await container.privateDatabase.modifyRecords(saving: local) } == .notAuthenticated)

        accounts.signIn(ann.account)
        #expect(await changes.next() == .signIn)
        let database = container.privateDatabase
        try await database.save(RecordZone(zoneID: zone))
        let unsent = local.filter { $0.recordChangeTag == nil || !$0.changedKeys().isEmpty }
        #expect(unsent.map(\.recordID.recordName) == ["new-0", "new-1", "new-2"])
        let saved = try await database.modifyRecords(saving: unsent).saveResults
        #expect(unsent.allSatisfy { saved[$0.recordID]?.failureCode == nil && saved[$0.recordID] != nil })

        let after = try await ann.onFreshDevice().own.recordZoneChanges(inZoneWith: zone, since: before.changeToken)
        #expect(after.modifications.map(\.recordID.recordName) == ["new-0", "new-1", "new-2"])
        #expect(after.deletions.isEmpty)
        #expect(try await database.record(for: known.recordID).recordChangeTag == known.recordChangeTag)
        #expect(try await database.recordZoneChanges(inZoneWith: zone).modifications.count == 5)
        // Sent once more, nothing is there twice.
        #expect(await failure { try await database.save(unsent[0]) } == .serverRecordChanged)
    }

    enum Departure: CaseIterable { case signOut, switchAccounts, restrict, lock }

    /// #4: with the account goes what the SDK has opened for it on this device; a locked one comes back to it.
    @Test(arguments: Departure.allCases) func s4_whatWasOpenedForAnAccountGoesWithIt(departure: Departure) async throws
    {
        let (ann, bob) = (try await Person(), try await Person())
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("scan")
        try pattern(1000).write(to: file)
        func fetched(by person: Person, with container: Container) async throws -> URL {
            let zone = try await person.makeZone()
            var note = person.note(in: zone, "with a file")
            note["scan"] = Asset(fileURL: file)
            try await person.own.save(note)
            let asset: Asset? = try await container.privateDatabase.record(for: note.recordID)["scan"]
            return try #require(asset?.fileURL)
        }
        let accounts = AccountProvider()
        let container = try Container(ann.container.containerIdentifier, accounts: accounts)
        accounts.signIn(ann.account, trust: ann.container.core.trust)
        let anns = try await fetched(by: ann, with: container)
        let bobs = try await fetched(by: bob, with: bob.container)
        let before = container.privateDatabase
        #expect(try Data(contentsOf: anns) == pattern(1000))
        switch departure {
        case .signOut: accounts.signOut()
        case .switchAccounts: accounts.signIn(bob.account, trust: bob.container.core.trust)
        case .restrict: accounts.restrict()
        case .lock: accounts.lock()
        }
        #expect(FileManager.default.fileExists(atPath: anns.path) == (departure == .lock))
        #expect(FileManager.default.fileExists(atPath: file.path), "the app's own file")
        #expect(try Data(contentsOf: bobs) == pattern(1000), "of an account that did not go")
        let code = await failure { _ = try await before.allRecordZones() }
        #expect(code == (departure == .lock ? .accountTemporarilyUnavailable : .notAuthenticated))
        // The next one's files go where they last.
        if departure == .switchAccounts {
            #expect(try Data(contentsOf: try await fetched(by: bob, with: container)) == pattern(1000))
        }
    }

    /// #9, for each way in which a record comes back.
    @Test func s9_changingWhatWasReturnedChangesNothingStored() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let name = Record.ID(recordName: "a", zoneID: zone)
        let first = try await ann.own.save(ann.note(in: zone, "stored", name: "a"))
        let token = try await ann.own.recordZoneChanges(inZoneWith: zone).changeToken
        let loose = try await ann.own.modifyRecords(
            saving: [ann.note(in: zone, "stored", name: "b")], atomically: false)
        let returned = [
            first, try #require(try loose.saveResults.values.first?.get()), try await ann.own.record(for: name),
            try #require(try await ann.own.records(for: [name])[name]?.get()),
            try #require(try await ann.own.recordZoneChanges(inZoneWith: zone).modificationResultsByID[name]?.get())
                .record,
        ]
        for record in returned {
            var changed = record
            changed.encryptedValues["body"] = "changed"
            changed["color"] = "red"
            changed.setParent(name)
            #expect(changed.changedKeys() == ["body", "color"])
            #expect(record.encryptedValues["body"] == "stored")
            #expect(record.changedKeys().isEmpty)
            #expect(record.parent == nil)
            let found = try await ann.own.record(for: record.recordID)
            #expect(found.encryptedValues["body"] == "stored")
            #expect(found.allKeys() == ["body"])
            #expect(found.parent == nil)
            #expect(found.recordChangeTag == record.recordChangeTag)
        }
        let changes = try await ann.own.recordZoneChanges(inZoneWith: zone, since: token)
        #expect(changes.modifications.map(\.recordID.recordName) == ["b"])
    }

    /// #25 and #26, as the SDK's functions say them.
    @Test func s25_s26_aParentGoesWithItsChildrenOrNotAtAll() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        for order in [[0, 1], [1, 0]] {
            let parent = ann.note(in: zone, "parent")
            var child = ann.note(in: zone, "child")
            child.setParent(parent)
            _ = try await ann.own.modifyRecords(saving: [child, parent])
            #expect(await failure { try await ann.own.deleteRecord(withID: parent.recordID) } == .referenceViolation)
            let both = [parent.recordID, child.recordID]
            #expect(try await ann.own.records(for: both).values.allSatisfy { $0.failureCode == nil })
            let results = try await ann.own.modifyRecords(deleting: order.map { both[$0] }).deleteResults
            #expect(both.allSatisfy { results[$0] != nil && results[$0]?.failureCode == nil })
            #expect(try await ann.own.records(for: both).values.allSatisfy { $0.failureCode == .unknownItem })
        }
    }

    /// #27: a device that slept through it never hears of the deletion.
    @Test func s27_whatWasDeletedAndMadeAgainIsToldAsMadeOnly() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let first = try await ann.own.save(ann.note(in: zone, "first", name: "a"))
        let other = try ann.onFreshDevice()
        let token = try await other.own.recordZoneChanges(inZoneWith: zone).changeToken
        try await ann.own.deleteRecord(withID: first.recordID)
        let again = try await ann.own.save(ann.note(in: zone, "again", name: "a"))
        for (device, since) in [(other, token), (other, nil), (try ann.onFreshDevice(), nil)]
            as [(Person, ServerChangeToken?)]
        {
            let changes = try await device.own.recordZoneChanges(inZoneWith: zone, since: since)
            #expect(changes.deletions.isEmpty)
            #expect(changes.modifications.map(\.recordID) == [first.recordID])
            #expect(try changes.modifications[0].result.get().recordChangeTag == again.recordChangeTag)
        }
    }

    /// #28 to #30 and #33: refused as a whole, and taken as it was once the server's record is merged.
    @Test func s28_s33_theSameBatchGoesThroughOnceItIsMerged() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let gone = try await ann.own.save(ann.note(in: zone, "to go", name: "gone"))
        var mine = try await ann.own.save(ann.note(in: zone, "one", name: "disputed"))
        let other = try ann.onFreshDevice()
        var theirs = try await other.own.record(for: mine.recordID)
        theirs["color"] = "blue"
        try await other.own.save(theirs)
        let token = try await ann.own.recordZoneChanges(inZoneWith: zone).changeToken
        mine.encryptedValues["body"] = "two"
        let new = ann.note(in: zone, "new", name: "new")

        let refused = try await ann.own.modifyRecords(saving: [new, mine], deleting: [gone.recordID])
        #expect(refused.saveResults[new.recordID]?.failureCode == .batchRequestFailed)
        #expect(refused.deleteResults[gone.recordID]?.failureCode == .batchRequestFailed)
        guard case .failure(let conflict)? = refused.saveResults[mine.recordID] else {
            Issue.record("a stale save went through")
            return
        }
        #expect(conflict.code == .serverRecordChanged)
        let unchanged = try await ann.own.recordZoneChanges(inZoneWith: zone, since: token)
        #expect(unchanged.modifications.isEmpty)
        #expect(unchanged.deletions.isEmpty)

        var merged = try #require(conflict.serverRecord)
        merged.encryptedValues["body"] = try #require(conflict.clientRecord?.encryptedValues["body"] as String?)
        let taken = try await ann.own.modifyRecords(saving: [new, merged], deleting: [gone.recordID])
        #expect(taken.saveResults.values.allSatisfy { $0.failureCode == nil })
        #expect(taken.saveResults.count == 2)
        #expect(taken.deleteResults[gone.recordID]?.failureCode == nil)
        let found = try await other.own.record(for: mine.recordID)
        #expect(found["color"] == "blue")
        #expect(found.encryptedValues["body"] == "two")
    }

    /// #36: a device that is told of it has everything it needs to bring back what it kept.
    @Test func s36_afterAResetTheLocalCopyIsUploadedAnew() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let kept = try await ann.own.save(ann.note(in: zone, "kept on this device", name: "kept"))
        let token = try await ann.own.databaseChanges().changeToken
        let other = try ann.onFreshDevice()
        try await other.own.deleteRecordZone(withID: zone, reason: .encryptedDataReset)
        let told = try await ann.own.databaseChanges(since: token)
        #expect(told.deletions.map(\.reason) == [.encryptedDataReset])
        #expect(told.deletions.map(\.zoneID) == [zone])
        try await ann.own.save(RecordZone(zoneID: zone))
        // A copy with its system fields is of the zone's earlier life.
        #expect(await failure { try await ann.own.save(kept) } == .unknownItem)
        let anew = try await ann.own.save(ann.note(in: zone, "kept on this device", name: "kept"))
        let found = try await ann.onFreshDevice().own.record(for: kept.recordID)
        #expect(found.encryptedValues["body"] == "kept on this device")
        #expect(found.recordChangeTag == anew.recordChangeTag)
    }

    /// #23 and #24, as the SDK's functions say them.
    @Test func s23_s24_deletingWhatIsNotThere() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        try await ann.own.deleteRecord(withID: Record.ID(recordName: "absent", zoneID: zone))
        let nowhere = Record.ID(recordName: "a", zoneID: RecordZone.ID(zoneName: "absent"))
        #expect(await failure { try await ann.own.deleteRecord(withID: nowhere) } == .zoneNotFound)
    }
}
