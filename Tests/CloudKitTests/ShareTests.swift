import CloudKit
import Testing

/// Shares: what they hold, how they are saved, and where they come out.
@Suite(.timeLimit(.minutes(60))) struct ShareTests {
    /// Ann's database with a zone and a saved record in it, and Bob's container.
    private func run(_ body: (CKContainer, CKContainer, CKRecord) async throws -> Void) async throws {
        try await Cloud.run { cloud in
            let (ann, bob) = (try await cloud.container(of: "ann"), try await cloud.container(of: "bob"))
            let zone = try await ann.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
            try await body(ann, bob, CKRecord.note("root", in: zone.zoneID))
        }
    }

    /// A share of the record with somebody in it who has accepted.
    private func shared(_ root: CKRecord, by ann: CKContainer, with bob: CKContainer) async throws -> CKShare {
        let share = CKShare(rootRecord: root)
        share.addParticipant(try await ann.shareParticipant(forUserRecordID: try await bob.userRecordID()))
        try await ann.privateCloudDatabase.modifyRecords(saving: [root, share])
        try await bob.accept(try await bob.shareMetadata(for: try #require(share.url)))
        return share
    }

    @Test func ofARecord() async throws {
        try await run { ann, bob, root in
            root.encryptedValues["body"] = "secret"
            let child = CKRecord.note("child", in: root.recordID.zoneID)
            child.setParent(root)
            let share = CKShare(rootRecord: root)
            share[CKShare.SystemFieldKey.title] = "Our notes"
            share[CKShare.SystemFieldKey.shareType] = "org.example.note"
            share["colour"] = "red"
            share["number"] = 3
            let (annsID, bobsID) = (try await ann.userRecordID(), try await bob.userRecordID())
            share.addParticipant(try await ann.shareParticipant(forUserRecordID: bobsID))
            #expect(share.owner === share.participants.first)
            #expect(share.currentUserParticipant === share.owner)
            #expect(share.url == nil)
            #expect(share.changedKeys() == ["cloudkit.title", "cloudkit.type", "colour", "number"])

            let results = try await ann.privateCloudDatabase.modifyRecords(saving: [child, share, root])
            #expect(results.saveResults.values.map(\.code) == [nil, nil, nil])
            // The very objects that were passed have what was saved.
            #expect(try results.saveResults[share.recordID]?.get() === share)
            #expect(root.share?.recordID == share.recordID)
            #expect(share.recordChangeTag != nil)
            #expect(share.creationDate != nil)
            #expect(share.changedKeys().isEmpty)
            #expect(share.participants.map(\.role) == [.owner, .privateUser])
            #expect(share.participants.last?.acceptanceStatus == .pending)
            #expect(share.owner.userIdentity.userRecordID == annsID)
            let url = try #require(share.url)

            let metadata = try await bob.shareMetadata(for: url)
            #expect(metadata.share[CKShare.SystemFieldKey.title] as? String == "Our notes")
            #expect(metadata.hierarchicalRootRecordID?.recordName == "root")
            #expect(metadata.rootRecordID.recordName == "root")
            #expect(metadata.participantStatus == .pending)
            #expect(metadata.participantRole == .privateUser)
            #expect(metadata.participantPermission == .readOnly)
            #expect(metadata.containerIdentifier == ann.containerIdentifier)
            #expect(metadata.ownerIdentity.userRecordID == annsID)
            #expect(metadata.rootRecord == nil)

            let accepted = try await bob.accept(metadata)
            #expect(accepted.recordID.recordName == share.recordID.recordName)
            #expect(accepted.recordID.zoneID.ownerName == annsID.recordName)
            #expect(accepted[CKShare.SystemFieldKey.title] as? String == "Our notes")
            #expect(accepted["colour"] as? String == "red")
            #expect(accepted["number"] as? Int == 3)
            #expect(accepted.currentUserParticipant?.acceptanceStatus == .accepted)
            #expect(accepted.url == nil)
            let read = try await bob.sharedCloudDatabase.record(
                for: CKRecord.ID(recordName: "root", zoneID: accepted.recordID.zoneID))
            #expect(read.encryptedValues["body"] as? String == "secret")
            // Once more is nothing.
            #expect(try await bob.accept(metadata).recordID == accepted.recordID)
        }
    }

    @Test func ofAZone() async throws {
        try await run { ann, bob, root in
            let zone = root.recordID.zoneID
            try await ann.privateCloudDatabase.save(root)
            let share = CKShare(recordZoneID: zone)
            share.publicPermission = .readWrite
            #expect(share.recordID.recordName == CKRecordNameZoneWideShare)
            try await ann.privateCloudDatabase.save(share)
            #expect(try await ann.privateCloudDatabase.recordZone(for: zone).share?.recordID == share.recordID)
            let metadata = try await bob.shareMetadata(for: try #require(share.url))
            #expect(metadata.hierarchicalRootRecordID == nil)
            #expect(metadata.rootRecordID.recordName == CKRecordNameZoneWideShare)
            #expect(metadata.participantRole == .publicUser)
            let accepted = try await bob.accept(metadata)
            #expect(accepted.publicPermission == .readWrite)
            let note = CKRecord.note("bob's", in: accepted.recordID.zoneID)
            try await bob.sharedCloudDatabase.save(note)

            // Who leaves deletes the share; the owner ends it so.
            try await bob.sharedCloudDatabase.deleteRecord(withID: accepted.recordID)
            await expectFailure(.zoneNotFound) { _ = try await bob.sharedCloudDatabase.record(for: note.recordID) }
            try await ann.privateCloudDatabase.deleteRecord(withID: share.recordID)
            #expect(try await ann.privateCloudDatabase.recordZone(for: zone).share == nil)
            // Shared anew it goes on.
            let again = CKShare(recordZoneID: zone)
            again.publicPermission = .readOnly
            try await ann.privateCloudDatabase.save(again)
            #expect(try await ann.privateCloudDatabase.recordZone(for: zone).share?.recordID == again.recordID)
            #expect(try await ann.privateCloudDatabase.record(for: root.recordID).recordID == root.recordID)
        }
    }

    /// `as? CKShare` in an app is nil for what comes out as a plain record: it would share anew.
    @Test func whereverARecordComesOut() async throws {
        try await run { ann, bob, root in
            let share = try await shared(root, by: ann, with: bob)
            let database = ann.privateCloudDatabase
            let fetched = try #require(try await database.record(for: share.recordID) as? CKShare)
            #expect(fetched !== share)
            #expect(fetched.url == share.url)
            #expect(fetched.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
            let feed = try await database.recordZoneChanges(inZoneWith: root.recordID.zoneID, since: nil)
            let told = try #require(try feed.modificationResultsByID[share.recordID]?.get().record as? CKShare)
            #expect(told.participants.count == 2)
            #expect(told.recordChangeTag == fetched.recordChangeTag)

            let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [root.recordID.zoneID])
            let kinds = Log()
            operation.recordWasChangedBlock = { id, result in
                if let record = try? result.get() { kinds.note("\(id.recordName) \(record is CKShare)") }
            }
            await withCheckedContinuation { done in
                operation.completionBlock = { done.resume() }
                database.add(operation)
            }
            #expect(Set(kinds.all) == ["root false", "\(share.recordID.recordName) true"])

            let zone = try #require(try await bob.sharedCloudDatabase.allRecordZones().first)
            let others = try await bob.sharedCloudDatabase.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
            let shares = try others.modificationResultsByID.values.compactMap { try $0.get().record as? CKShare }
            #expect(shares.first?.participants.count == 2)
            // A new share under the name of one that there is.
            let other = CKRecord.note("other", in: root.recordID.zoneID)
            let again = CKShare(rootRecord: other, shareID: share.recordID)
            let results = try await database.modifyRecords(saving: [other, again])
            guard case .failure(let error as CKError)? = results.saveResults[again.recordID] else {
                Issue.record("a second share of one name was saved")
                return
            }
            #expect(error.serverRecord == nil || error.serverRecord is CKShare)
        }
    }

    @Test func participantsAreTheSharesOwn() async throws {
        try await run { ann, bob, root in
            let share = try await shared(root, by: ann, with: bob)
            let (database, bobsID) = (ann.privateCloudDatabase, try await bob.userRecordID())
            let known = try #require(share.participants.last)
            known.permission = .readWrite
            try await database.save(share)
            #expect(share.participants.last === known)
            let fetched = try #require(try await database.record(for: share.recordID) as? CKShare)
            #expect(fetched.participants.last?.permission == .readWrite)
            #expect(fetched.participants.last == known)
            // Somebody who is in it already is given what the other one has.
            let again = try await ann.shareParticipant(forUserRecordID: bobsID)
            again.permission = .readOnly
            fetched.addParticipant(again)
            #expect(fetched.participants.count == 2)
            try await database.save(fetched)
            #expect(fetched.participants.last?.permission == .readOnly)
            known.permission = .unknown
            await expectFailure(.invalidArguments) { try await database.save(share) }
            fetched.removeParticipant(try #require(fetched.participants.last))
            fetched.removeParticipant(fetched.owner)
            #expect(fetched.participants.count == 1)
            try await database.save(fetched)
            #expect(fetched.participants.map(\.role) == [.owner])
            #expect(try await bob.sharedCloudDatabase.allRecordZones().isEmpty)
        }
    }

    /// What is no value of a share's is refused when it is saved, and told; nothing is left out in silence.
    @Test func whatIsRefused() async throws {
        try await run { ann, _, root in
            let share = CKShare(rootRecord: root)
            let database = ann.privateCloudDatabase
            // Alone a new share has no root to go with it.
            await expectFailure(.invalidArguments) { try await database.save(share) }
            share[CKShare.SystemFieldKey.title] = 3
            let title = try await database.modifyRecords(saving: [root, share])
            #expect(title.saveResults[share.recordID]?.code == .invalidArguments)
            #expect(title.saveResults[root.recordID]?.code == .batchRequestFailed)
            share[CKShare.SystemFieldKey.title] = "Notes"
            share.setValue(UUID(), forKey: "own")
            let field = try await database.modifyRecords(saving: [root, share])
            #expect(field.saveResults[share.recordID]?.code == .invalidArguments)
            share["own"] = "a"
            share.publicPermission = .unknown
            let permission = try await database.modifyRecords(saving: [root, share])
            #expect(permission.saveResults[share.recordID]?.code == .invalidArguments)
            share.publicPermission = .none
            let good = try await database.modifyRecords(saving: [root, share])
            #expect(good.saveResults.values.map(\.code) == [nil, nil])
            await expectFailure(.badDatabase) {
                _ = try await ann.publicCloudDatabase.save(CKShare(recordZoneID: root.recordID.zoneID))
            }
        }
    }

    /// A batch that is not atomic keeps what is good beside a share.
    @Test func batchesThatAreNotAtomic() async throws {
        try await run { ann, _, root in
            let zone = root.recordID.zoneID
            let (good, bad, folder) = (
                CKRecord.note("good", in: zone), CKRecord.note("bad", in: zone), CKRecord.note("folder", in: zone)
            )
            bad["tags"] = [1, "a"] as NSArray
            good.setParent(root)
            root.setParent(folder)
            let share = CKShare(rootRecord: root)
            let results = try await ann.privateCloudDatabase.modifyRecords(
                saving: [bad, good, root, share, folder], deleting: [CKRecord.ID(recordName: "gone", zoneID: zone)],
                atomically: false)
            #expect(results.saveResults[bad.recordID]?.code == .invalidArguments)
            var saved: [String] = []
            for record in [good, root, share, folder] where results.saveResults[record.recordID] != nil {
                if results.saveResults[record.recordID]?.code == nil { saved.append(record.recordType) }
            }
            #expect(saved == ["Note", "Note", "cloudkit.share", "Note"])
            #expect(results.deleteResults.count == 1)
            let atomic = try await ann.privateCloudDatabase.modifyRecords(saving: [bad, CKRecord.note("x", in: zone)])
            #expect(atomic.saveResults.values.compactMap(\.code).contains(.batchRequestFailed))
        }
    }

    @Test func whoAsksForAccess() async throws {
        try await run { ann, bob, root in
            let share = CKShare(rootRecord: root)
            share.allowsAccessRequests = true
            try await ann.privateCloudDatabase.modifyRecords(saving: [root, share])
            let url = try #require(share.url)
            #expect(share.allowsAccessRequests)
            await expectFailure(.unknownItem) { _ = try await bob.shareMetadata(for: url) }
            let asked = try await bob.requestShareAccess(for: [url], contact: "Bob")
            #expect(asked[url]?.code == nil)
            let seen = try #require(try await ann.privateCloudDatabase.record(for: share.recordID) as? CKShare)
            let requester = try #require(seen.requesters.first)
            #expect(requester.contact == "Bob")
            #expect(requester.userIdentity.nameComponents?.givenName == "Bob")
            seen.denyRequesters([requester])
            try await ann.privateCloudDatabase.save(seen)
            #expect(seen.requesters.isEmpty)

            try await bob.requestShareAccess(for: [url])
            let again = try #require(try await ann.privateCloudDatabase.record(for: share.recordID) as? CKShare)
            let infos = again.requesters.map(\.participantLookupInfo)
            let found = try await ann.shareParticipants(for: infos)
            let info = try #require(infos.first)
            again.addParticipant(try #require(try found[info]?.get()))
            try await ann.privateCloudDatabase.save(again)
            #expect(again.participants.last?.isApprovedRequester == true)
            #expect(try await bob.requestShareAccess(for: [url])[url]?.code == .participantAlreadyInvited)
            try await bob.accept(try await bob.shareMetadata(for: url))

            again.blockRequesters([requester])
            #expect(again.participants.count == 1)
            try await ann.privateCloudDatabase.save(again)
            let bobsID = try await bob.userRecordID()
            #expect(again.blockedIdentities.map(\.userIdentity.userRecordID) == [bobsID])
            await expectFailure(.unknownItem) { _ = try await bob.shareMetadata(for: url) }
            again.unblockIdentities(again.blockedIdentities)
            try await ann.privateCloudDatabase.save(again)
            #expect(again.blockedIdentities.isEmpty)
        }
    }

    /// From archives: what was not kept is not taken for empty, and whom to invite is looked up again.
    @Test func savedFromAnArchive() async throws {
        try await run { ann, bob, root in
            let share = try await shared(root, by: ann, with: bob)
            share[CKShare.SystemFieldKey.title] = "Notes"
            share["colour"] = "red"
            try await ann.privateCloudDatabase.save(share)
            let coder = NSKeyedArchiver(requiringSecureCoding: true)
            share.encodeSystemFields(with: coder)
            let reader = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
            reader.requiresSecureCoding = true
            let read = try #require(CKShare(coder: reader))
            #expect(read.recordID == share.recordID)
            #expect(read.recordChangeTag == share.recordChangeTag)
            #expect(read.url == share.url)
            #expect(read.participants == share.participants)
            #expect(read.currentUserParticipant?.role == .owner)
            #expect(read[CKShare.SystemFieldKey.title] == nil)
            #expect(read.allKeys().isEmpty)
            read.participants.last?.permission = .readWrite
            read["number"] = 3
            try await ann.privateCloudDatabase.save(read)
            let fetched = try #require(try await ann.privateCloudDatabase.record(for: share.recordID) as? CKShare)
            #expect(fetched[CKShare.SystemFieldKey.title] as? String == "Notes")
            #expect(fetched["colour"] as? String == "red")
            #expect(fetched["number"] as? Int == 3)
            #expect(fetched.participants.last?.permission == .readWrite)

            // A whole one, with somebody who is still to be invited.
            let other = CKRecord.note("other", in: root.recordID.zoneID)
            let new = CKShare(rootRecord: other)
            new[CKShare.SystemFieldKey.title] = "Other"
            new.addParticipant(try await ann.shareParticipant(forUserRecordID: try await bob.userRecordID()))
            let data = try NSKeyedArchiver.archivedData(withRootObject: new, requiringSecureCoding: true)
            let whole = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: data))
            #expect(whole[CKShare.SystemFieldKey.title] as? String == "Other")
            #expect(whole.changedKeys() == ["cloudkit.title"])
            let results = try await ann.privateCloudDatabase.modifyRecords(saving: [other, whole])
            #expect(results.saveResults.values.map(\.code) == [nil, nil])
            let bobsID = try await bob.userRecordID()
            #expect(whole.participants.last?.userIdentity.userRecordID == bobsID)
            try await bob.accept(try await bob.shareMetadata(for: try #require(whole.url)))

            // Metadata says what it said; accepting fetches it again.
            let metadata = try await bob.shareMetadata(for: try #require(whole.url))
            let kept = try NSKeyedArchiver.archivedData(withRootObject: metadata, requiringSecureCoding: true)
            let again = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShareMetadata.self, from: kept))
            #expect(again == metadata)
            #expect(again.participantStatus == .accepted)
            #expect(again.share[CKShare.SystemFieldKey.title] as? String == "Other")
            #expect(try await bob.accept(again).recordID.recordName == whole.recordID.recordName)
            for count in stride(from: 0, to: data.count, by: 211) {
                let cut = data.prefix(count)
                #expect((try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: cut)) == nil)
            }
        }
    }

    /// What was not set is as another device has it by now, also from an archive.
    @Test func aTitleThatAnotherDeviceHasSetStays() async throws {
        try await run { ann, bob, root in
            let database = ann.privateCloudDatabase
            let share = try await shared(root, by: ann, with: bob)
            share[CKShare.SystemFieldKey.title] = "Notes"
            try await database.save(share)
            let data = try NSKeyedArchiver.archivedData(withRootObject: share, requiringSecureCoding: true)
            let other = try #require(try await database.record(for: share.recordID) as? CKShare)
            other[CKShare.SystemFieldKey.title] = "Vegetables"
            try await database.save(other)
            let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: data))
            #expect(read[CKShare.SystemFieldKey.title] as? String == "Notes")
            for stale in [share, read] {
                stale[CKShare.SystemFieldKey.shareType] = "org.example.list"
                try await database.save(stale)
                #expect(stale[CKShare.SystemFieldKey.title] as? String == "Vegetables")
                #expect(stale[CKShare.SystemFieldKey.shareType] as? String == "org.example.list")
            }
            // What was set is sent, whatever it was before.
            share[CKShare.SystemFieldKey.title] = "Fruit"
            try await database.save(share)
            read[CKShare.SystemFieldKey.title] = nil
            try await database.save(read)
            #expect(read[CKShare.SystemFieldKey.title] == nil)
            #expect(read[CKShare.SystemFieldKey.shareType] as? String == "org.example.list")
        }
    }

    @Test func whoIsRemovedAndAddedHasAnotherURL() async throws {
        try await run { ann, _, root in
            let database = ann.privateCloudDatabase
            let share = CKShare(rootRecord: root)
            let first = try await ann.shareParticipant(forEmailAddress: "dave@example.org")
            share.addParticipant(first)
            try await database.modifyRecords(saving: [root, share])
            let url = try #require(share.oneTimeURL(for: first.participantID))
            // Added once more it is the same.
            let same = try await ann.shareParticipant(forEmailAddress: "Dave@example.org")
            same.permission = .readWrite
            share.addParticipant(same)
            try await database.save(share)
            #expect(share.participants.last === first)
            #expect(first.permission == .readWrite)
            #expect(share.oneTimeURL(for: first.participantID) == url)

            let again = try await ann.shareParticipant(forEmailAddress: "dave@example.org")
            share.removeParticipant(first)
            share.addParticipant(again)
            try await database.save(share)
            #expect(share.participants.count == 2)
            #expect(share.participants.last === again)
            let other = try #require(share.oneTimeURL(for: again.participantID))
            #expect(other != url)
            await expectFailure(.unknownItem) { _ = try await ann.shareMetadata(for: url) }
        }
    }

    @Test func archivesOfPeople() throws {
        func archived<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object? {
            let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
            return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
        }
        for info in [
            CKUserIdentity.LookupInfo(emailAddress: "a@example.org"), CKUserIdentity.LookupInfo(phoneNumber: "+1"),
            CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: "_a")),
        ] {
            #expect(try archived(info) == info)
        }
        let participant = CKShare.Participant.oneTimeURLParticipant()
        participant.permission = .readWrite
        let read = try #require(try archived(participant))
        #expect(read == participant)
        #expect(read.permission == .readWrite)
        #expect(read.userIdentity.hasiCloudAccount == false)
        let options = CKAllowedSharingOptions.standard
        #expect(try archived(options)?.allowedParticipantAccessOptions == .any)
        let empty = NSKeyedArchiver(requiringSecureCoding: true)
        let reader = try NSKeyedUnarchiver(forReadingFrom: empty.encodedData)
        #expect(CKShare(coder: reader) == nil)
        #expect(CKShareParticipant(coder: reader) == nil)
        #expect(CKShareMetadata(coder: reader) == nil)
        #expect(CKShareAccessRequester(coder: reader) == nil)
        #expect(CKShareBlockedIdentity(coder: reader) == nil)
        #expect(CKUserIdentityLookupInfo(coder: reader) == nil)
        #expect(CKAllowedSharingOptions(coder: reader) == nil)
    }

    @Test func copiesAreByThemselves() async throws {
        try await run { ann, bob, root in
            let share = try await shared(root, by: ann, with: bob)
            let copy = try #require(share.copy() as? CKShare)
            copy[CKShare.SystemFieldKey.title] = "copy"
            copy.participants.last?.permission = .readWrite
            copy.removeParticipant(try #require(copy.participants.last))
            #expect(share[CKShare.SystemFieldKey.title] == nil)
            #expect(share.participants.last?.permission == .readOnly)
            #expect(share.participants.count == 2)
            #expect(copy.url == share.url)
        }
    }

    @Test("The archive of a share is altered to invite somebody else: refused, and no seat stands open instead.")
    func attack100_anArchiveInvitesSomebodyElse() async throws {
        try await run { ann, bob, root in
            let share = CKShare(rootRecord: root)
            let name = try await bob.userRecordID().recordName
            share.addParticipant(try await ann.shareParticipant(forUserRecordID: CKRecord.ID(recordName: name)))
            var data = try NSKeyedArchiver.archivedData(withRootObject: share, requiringSecureCoding: true)
            let other = String(name.dropLast()) + (name.hasSuffix("0") ? "1" : "0")
            var count = 0
            while let place = data.range(of: Data(name.utf8)) {
                data.replaceSubrange(place, with: Data(other.utf8))
                count += 1
            }
            #expect(count > 0)
            let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: data))
            #expect(read.participants.last?.userIdentity.userRecordID?.recordName == other)
            let error = await expectFailure(.unknownItem) {
                _ = try await ann.privateCloudDatabase.modifyRecords(saving: [root, read])
            }
            if let error { AttackOutcome.refused("\(error.code)") }
            await expectFailure(.unknownItem) {
                _ = try await ann.privateCloudDatabase.record(for: root.recordID)
            }
        }
    }
}
