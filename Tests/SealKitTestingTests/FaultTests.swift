import Foundation
import SealKit
import SealKitTesting
import Testing

/// An app that meets a fault of the catalogue sees what the catalogue says, and goes on when the server is honest
/// again.
@Suite(.timeLimit(.minutes(60))) struct FaultTests {
    @Test(arguments: ServerFault.Kind.allCases) func isSeenAsTheCatalogueSays(_ kind: ServerFault.Kind) async throws {
        try await TestServer.run { server in
            let notes = try await Notes(server)
            switch kind {
            case .rollback: try await rollback(server, notes)
            case .flippedBit: try await refusesRecord(notes, .flippedBit(in: notes.note))
            case .swappedFields:
                let other = try await notes.alice.save("other", in: notes.zone, body: "other")
                try await refusesRecord(notes, .swappedFields(of: notes.note, and: other.recordID))
            case .mixedRevisions:
                let before = try await server.snapshot()
                try await notes.alice.edit(notes.note, body: "second")
                try await refusesRecord(notes, .mixedRevisions(of: notes.note, with: before))
            case .plainField: try await refusesRecord(notes, .plainField(of: notes.note))
            case .withheldField: try await refusesRecord(notes, .withheldField(of: notes.note))
            case .olderRecord: try await olderRecord(server, notes)
            case .movedRecord: try await refusesRecord(notes, .movedRecord(notes.note, below: "elsewhere"))
            case .anotherRecord:
                let other = try await notes.alice.save("other", in: notes.zone, body: "other")
                try await refusesLookUp(notes, .anotherRecord(other.recordID, shownAs: notes.note), .integrityFailure)
            case .borrowedSignature: try await refusesRecord(notes, .borrowedSignature(of: notes.note))
            case .inventedRecord: try await inventedRecord(notes)
            case .deniedRecord: try await deniedRecord(notes)
            case .unsignedDeletion:
                try await refusesLookUp(notes, .unsignedDeletion(of: notes.note), .integrityFailure)
            case .goneWith:
                let target = try await notes.alice.save("target", in: notes.zone, body: "target").recordID
                try await notes.alice.own.deleteRecord(withID: target)
                try await refusesLookUp(notes, .goneWith(target, record: notes.note), .integrityFailure)
            case .emptyAnswers: try await emptyAnswers(notes)
            case .withheldHead: try await refusesLookUp(notes, .withheldHead, .integrityFailure)
            case .leftOutRecord: try await leftOutRecord(notes)
            case .leftOutZone: try await leftOutZone(notes)
            case .emptyFeed: try await emptyFeed(notes)
            case .endlessFeed: try await refusesFeed(notes, .endlessFeed(of: notes.zone))
            case .floodedFeed: try await refusesFeed(notes, .floodedFeed(of: notes.zone))
            case .deniedZone: try await deniedZone(notes)
            case .deletedZone: try await deletedZone(notes)
            case .shortenedRoster:
                try await refusesLookUp(notes, .shortenedRoster(of: notes.zone), .rollback)
            case .forgedEntry: try await forgedEntry(notes)
            case .endlessRoster: try await endlessRoster(notes)
            case .wrongGrants: try await wrongGrants(notes)
            case .announcedRotation: try await announcedRotation(notes)
            case .exchangedKeys: try await exchangedKeys(server, notes)
            case .weakKeys: try await refusesLookUpOfPeople(notes, .weakKeys)
            case .inventedDevice: try await inventedDevice(notes)
            case .damagedRecoveryBundle: try await damagedRecoveryBundle(server, notes)
            case .interceptedEnrolment: try await interceptedEnrolment(server, notes)
            case .exchangedVerification: try await exchangedVerification(server, notes)
            case .exchangedShare: try await exchangedShare(notes)
            case .offeredSeat: try await offeredSeat(notes)
            case .alteredChunks: try await alteredChunks(notes)
            case .exchangedAsset: try await exchangedAsset(notes)
            case .offline: try await offline(notes)
            case .refusal: try await refusal(notes)
            case .lostAnswers: try await lostAnswers(notes)
            case .brokenDownloads: try await brokenDownloads(notes)
            case .notASealKitServer: try await refusesLookUp(notes, .notASealKitServer, .serverRejectedRequest)
            }
        }
    }

    // MARK: What many have in common

    /// Alice's look-up of the note is refused, and good once the server is honest.
    private func refusesLookUp(_ notes: Notes, _ fault: ServerFault, _ code: SealKitError.Code) async throws {
        let honest = try await notes.alice.body(of: notes.note)
        let injection = notes.alice.network.inject(fault)
        await expectRefused(code) { _ = try await notes.alice.own.record(for: notes.note) }
        notes.alice.network.beHonest()
        #expect(injection.times > 0)
        #expect(try await notes.alice.body(of: notes.note) == honest)
    }

    /// The same of the note in a look-up and in the zone's feed.
    private func refusesRecord(_ notes: Notes, _ fault: ServerFault) async throws {
        let injection = notes.alice.network.inject(fault)
        let feed = try await notes.alice.own.recordZoneChanges(inZoneWith: notes.zone)
        #expect(feed.modificationResultsByID[notes.note]?.code == .integrityFailure)
        injection.remove()
        #expect(injection.times > 0)
        try await refusesLookUp(notes, fault, .integrityFailure)
    }

    private func refusesFeed(_ notes: Notes, _ fault: ServerFault) async throws {
        notes.alice.network.inject(fault)
        await expectRefused(.serverRejectedRequest) {
            _ = try await notes.alice.own.recordZoneChanges(inZoneWith: notes.zone)
        }
        notes.alice.network.beHonest()
        let feed = try await notes.alice.own.recordZoneChanges(inZoneWith: notes.zone)
        #expect(feed.modificationResultsByID[notes.note] != nil)
    }

    private func refusesLookUpOfPeople(_ notes: Notes, _ fault: ServerFault) async throws {
        let bob = try notes.bob.container.userRecordID()
        notes.alice.network.inject(fault)
        await expectRefused(.integrityFailure) {
            _ = try await notes.alice.container.shareParticipant(forUserRecordID: bob)
        }
        notes.alice.network.beHonest()
        let found = try await notes.alice.container.shareParticipant(forUserRecordID: bob)
        #expect(found.userIdentity.userRecordID == bob)
    }

    // MARK: Records

    private func rollback(_ server: TestServer, _ notes: Notes) async throws {
        let before = try await server.snapshot()
        try await notes.alice.edit(notes.note, body: "second")
        try await refusesLookUp(notes, .rollback(to: before), .rollback)
        // Alice and Bob are kept apart: each is shown what the other has not, and whoever sees both refuses.
        let (here, there) = (try await server.snapshot(), try await server.snapshot())
        notes.alice.network.inject(.rollback(to: here))
        notes.bob.network.inject(.rollback(to: there))
        try await notes.alice.edit(notes.note, body: "for Alice")
        try await notes.bob.edit(notes.bobs, body: "for Bob")
        notes.bob.network.beHonest()
        notes.bob.network.inject(.rollback(to: here))
        await expectRefused(.rollback) { _ = try await notes.bob.body(of: notes.bobs) }
    }

    private func olderRecord(_ server: TestServer, _ notes: Notes) async throws {
        let before = try await server.snapshot()
        try await notes.alice.edit(notes.note, body: "second")
        let injection = notes.alice.network.inject(.olderRecord(notes.note, from: before))
        let feed = try await notes.alice.own.recordZoneChanges(inZoneWith: notes.zone)
        #expect(feed.modificationResultsByID[notes.note]?.code == .rollback)
        injection.remove()
        try await refusesLookUp(notes, .olderRecord(notes.note, from: before), .rollback)
        // Brought back from its deletion.
        try await notes.alice.own.deleteRecord(withID: notes.note)
        notes.alice.network.inject(.olderRecord(notes.note, from: before))
        await expectRefused(.rollback) { _ = try await notes.alice.body(of: notes.note) }
        notes.alice.network.beHonest()
        await expectRefused(.unknownItem) { _ = try await notes.alice.body(of: notes.note) }
    }

    private func inventedRecord(_ notes: Notes) async throws {
        let id = Record.ID(recordName: "made up", zoneID: notes.zone)
        notes.alice.network.inject(.inventedRecord(id, recordType: "Note"))
        await expectRefused(.integrityFailure) { _ = try await notes.alice.own.record(for: id) }
        let feed = try await notes.alice.own.recordZoneChanges(inZoneWith: notes.zone)
        #expect(feed.modificationResultsByID[id]?.code == .integrityFailure)
        notes.alice.network.beHonest()
        await expectRefused(.unknownItem) { _ = try await notes.alice.own.record(for: id) }
    }

    private func deniedRecord(_ notes: Notes) async throws {
        notes.alice.network.inject(.deniedRecord(notes.note))
        await expectRefused(.rollback) { try await notes.alice.own.deleteRecord(withID: notes.note) }
        notes.alice.network.beHonest()
        try await refusesLookUp(notes, .deniedRecord(notes.note), .rollback)
    }

    private func emptyAnswers(_ notes: Notes) async throws {
        notes.alice.network.inject(.emptyAnswers)
        await expectRefused(.serverRejectedRequest) {
            _ = try await notes.alice.own.record(for: Record.ID(recordName: "unknown", zoneID: notes.zone))
        }
        notes.alice.network.beHonest()
        try await refusesLookUp(notes, .emptyAnswers, .rollback)
    }

    // MARK: Feeds and zones

    private func leftOutRecord(_ notes: Notes) async throws {
        notes.alice.network.inject(.leftOutRecord(notes.note))
        let feed = try await notes.alice.own.recordZoneChanges(inZoneWith: notes.zone)
        #expect(try feed.modificationResultsByID[notes.note]?.get().record.encryptedValues["body"] == "first")
        #expect(try await notes.alice.container.violations().map(\.recordName) == [notes.note.recordName])
        // Who never saw it cannot miss it.
        let fresh = try await notes.alice.anotherDevice(named: "laptop")
        fresh.network.inject(.leftOutRecord(notes.note))
        let seen = try await fresh.own.recordZoneChanges(inZoneWith: notes.zone)
        #expect(seen.modificationResultsByID[notes.note] == nil)
        #expect(!seen.modifications.isEmpty)
    }

    private func leftOutZone(_ notes: Notes) async throws {
        notes.alice.network.inject(.leftOutZone(notes.zone))
        #expect(try await notes.alice.own.databaseChanges().modifications.map(\.zoneID) == [notes.zone])
        #expect(try await notes.alice.own.allRecordZones().map(\.zoneID).contains(notes.zone))
        #expect(try await notes.alice.container.violations().map(\.zoneID) == [notes.zone])
    }

    private func emptyFeed(_ notes: Notes) async throws {
        try await notes.alice.own.rotateKeys(of: notes.zone)
        notes.alice.network.inject(.emptyFeed(of: notes.zone))
        let known = try await notes.alice.own.recordZoneChanges(inZoneWith: notes.zone)
        #expect(known.modificationResultsByID[notes.note] != nil)
        let fresh = try await notes.alice.anotherDevice(named: "laptop")
        fresh.network.inject(.emptyFeed(of: notes.zone))
        #expect(try await fresh.own.recordZoneChanges(inZoneWith: notes.zone).modifications.isEmpty)
        fresh.network.beHonest()
        let late = await expectRefused(.rollback) { _ = try await fresh.own.record(for: notes.note) }?.lateRecord
        #expect(try await fresh.own.accept([try #require(late)])[notes.note]?.get() != nil)
        #expect(try await fresh.body(of: notes.note) == "first")
    }

    private func deniedZone(_ notes: Notes) async throws {
        try await refusesLookUp(notes, .deniedZone(notes.zone), .rollback)
        notes.alice.network.inject(.deniedZone(notes.zone))
        await expectRefused(.rollback) { _ = try await notes.alice.own.recordZone(for: notes.zone) }
        await expectRefused(.rollback) { _ = try await notes.alice.own.recordZoneChanges(inZoneWith: notes.zone) }
        await expectRefused(.rollback) { try await notes.alice.save("new", in: notes.zone, body: "new") }
        notes.alice.network.beHonest()
        // It said so, and made the save all the same.
        #expect(try await notes.alice.body(of: Record.ID(recordName: "new", zoneID: notes.zone)) == "new")
    }

    private func deletedZone(_ notes: Notes) async throws {
        for isPurged in [false, true] {
            notes.alice.network.inject(.deletedZone(notes.zone, isPurged: isPurged))
            await expectRefused(.rollback) { _ = try await notes.alice.own.databaseChanges() }
            notes.alice.network.beHonest()
            #expect(try await notes.alice.own.databaseChanges().deletions.isEmpty)
        }
    }

    // MARK: Rosters and keys

    private func forgedEntry(_ notes: Notes) async throws {
        notes.alice.network.inject(.forgedEntry(inRosterOf: notes.zone))
        await expectRefused(.integrityFailure) { _ = try await notes.alice.own.share(for: notes.zone) }
        notes.alice.network.beHonest()
        #expect(try await notes.alice.own.share(for: notes.zone).participants.count == 2)
    }

    private func endlessRoster(_ notes: Notes) async throws {
        let fresh = try await notes.alice.anotherDevice(named: "laptop")
        fresh.network.inject(.endlessRoster(of: notes.zone))
        await expectRefused(.serverRejectedRequest) { _ = try await fresh.own.record(for: notes.note) }
        fresh.network.beHonest()
        #expect(try await fresh.body(of: notes.note) == "first")
    }

    private func wrongGrants(_ notes: Notes) async throws {
        let fresh = try await notes.alice.anotherDevice(named: "laptop")
        fresh.network.inject(.wrongGrants(of: notes.zone))
        await expectRefused(.permissionFailure) { try await fresh.save("new", in: notes.zone, body: "new") }
        await expectRefused(.integrityFailure) { _ = try await fresh.own.record(for: notes.note) }
        fresh.network.beHonest()
        #expect(try await fresh.restarted().body(of: notes.note) == "first")
    }

    private func announcedRotation(_ notes: Notes) async throws {
        notes.alice.network.inject(.announcedRotation)
        await expectRefused(.serverRecordChanged) { try await notes.alice.save("new", in: notes.zone, body: "new") }
        #expect(try await notes.alice.body(of: Record.ID(recordName: "new", zoneID: notes.zone)) == "new")
        #expect(try await notes.alice.own.share(for: notes.zone).participants.count == 2)
    }

    private func exchangedKeys(_ server: TestServer, _ notes: Notes) async throws {
        let carol = try await server.account(named: "carol")
        try await refusesLookUpOfPeople(notes, .exchangedKeys(with: carol.container.userRecordID()))
    }

    // MARK: Accounts and devices

    private func inventedDevice(_ notes: Notes) async throws {
        notes.alice.network.inject(.inventedDevice)
        await expectRefused(.integrityFailure) { _ = try await notes.alice.account.devices() }
        notes.alice.network.beHonest()
        #expect(try await notes.alice.account.devices().map(\.name) == ["alice"])
    }

    private func damagedRecoveryBundle(_ server: TestServer, _ notes: Notes) async throws {
        let network = server.network()
        network.inject(.damagedRecoveryBundle)
        await expectRefused(.integrityFailure) {
            _ = try await Account.recover(notes.alice.recoveryKey, transport: network)
        }
        network.beHonest()
        _ = try await Account.recover(notes.alice.recoveryKey, transport: network)
    }

    private func interceptedEnrolment(_ server: TestServer, _ notes: Notes) async throws {
        let new = try await DeviceEnrolment.begin(transport: server.network(), deviceName: "tablet")
        let old = try await notes.alice.account.approveDevice(new.invitation)
        notes.alice.network.inject(.interceptedEnrolment)
        async let shown = new.comparison()
        await expectRefused(.integrityFailure) { _ = try await old.comparison() }
        _ = try await shown
        await expectRefused(.unknownItem) { try await old.confirm() }
        await new.cancel()
    }

    private func exchangedVerification(_ server: TestServer, _ notes: Notes) async throws {
        let (hers, theirs) = ("alice@example.org", "mallory@example.org")
        notes.alice.network.inject(.exchangedVerification(for: theirs))
        let verification = try await notes.alice.container.beginVerification(of: hers)
        for address in [hers, theirs] {
            let code = try await server.mailbox(for: address).code()
            await expectRefused(.verificationFailed) { _ = try await verification.complete(code: code) }
        }
        #expect(try await notes.alice.account.linkedAddresses().isEmpty)
        notes.alice.network.beHonest()
        let honest = try await notes.alice.container.beginVerification(of: hers)
        _ = try await honest.complete(code: try await server.mailbox(for: hers).code())
        #expect(try await notes.alice.account.linkedAddresses().count == 1)
    }

    // MARK: Shares

    private func exchangedShare(_ notes: Notes) async throws {
        let other = try await notes.alice.own.save(RecordZone(zoneName: "Other")).zoneID
        let wanted = try await notes.alice.own.save(RecordZone(zoneName: "Wanted")).zoneID
        let elsewhere = try #require(
            try await notes.alice.share(other, title: "Other", with: [(notes.bob, .readOnly)]).url)
        let url = try #require(
            try await notes.alice.share(wanted, title: "Wanted", with: [(notes.bob, .readOnly)]).url)
        notes.bob.network.inject(.exchangedShare(with: elsewhere))
        await expectRefused(.invalidArguments) { _ = try await notes.bob.container.shareMetadata(for: url) }
        notes.bob.network.beHonest()
        #expect(try await notes.bob.container.shareMetadata(for: url).title == "Wanted")
    }

    private func offeredSeat(_ notes: Notes) async throws {
        let zone = try await notes.alice.own.save(RecordZone(zoneName: "Wanted")).zoneID
        var share = try await notes.alice.share(zone, with: [(notes.bob, .readOnly)])
        let invited = try await notes.alice.container.shareParticipant(
            forEmailAddress: "carol@example.org", permission: .readWrite)
        share.addParticipant(invited)
        share = try await notes.alice.own.save(share)
        let url = try #require(share.url)
        notes.bob.network.inject(.offeredSeat(of: invited.participantID))
        await expectRefused(.invalidArguments) { _ = try await notes.bob.join(url) }
        notes.bob.network.beHonest()
        _ = try await notes.bob.join(url)
        #expect(
            try await notes.alice.own.share(for: zone).participants.first {
                $0.userIdentity.userRecordID == (try? notes.bob.container.userRecordID())
            }?.permission == .readOnly)
    }

    // MARK: Assets

    private func saveFile(_ name: String, _ content: Data, _ notes: Notes, _ folder: URL) async throws -> Record.ID {
        let file = folder.appendingPathComponent(name)
        try content.write(to: file)
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: name, zoneID: notes.zone))
        record["file"] = Asset(fileURL: file)
        return try await notes.alice.own.save(record).recordID
    }

    private func content(_ id: Record.ID, _ notes: Notes, _ folder: URL) async throws -> Data {
        let database = notes.alice.own.fetchingAssets(.onDemand)
        let asset: Asset? = try await database.record(for: id)["file"]
        let file = folder.appendingPathComponent("out-\(UUID().uuidString)")
        try await database.download(try #require(asset), of: id, to: file)
        return try Data(contentsOf: file)
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func alteredChunks(_ notes: Notes) async throws {
        try await withFolder { folder in
            let (long, short) = (pattern(300_000), pattern(1_000))
            let files = [
                (try await saveFile("long", long, notes, folder), long),
                (try await saveFile("short", short, notes, folder), short),
            ]
            for (id, whole) in files {
                for lie in ServerFault.ChunkLie.allCases {
                    notes.alice.network.inject(.alteredChunks(lie))
                    await expectRefused(.integrityFailure, "\(lie)") { _ = try await content(id, notes, folder) }
                    notes.alice.network.beHonest()
                }
                #expect(try await content(id, notes, folder) == whole)
            }
        }
    }

    private func exchangedAsset(_ notes: Notes) async throws {
        try await withFolder { folder in
            let bytes = pattern(100_000)
            let id = try await saveFile("one", bytes, notes, folder)
            let other = try await saveFile("other", Data(bytes.reversed()), notes, folder)
            notes.alice.network.inject(.exchangedAsset(of: id, field: "file", with: other))
            await expectRefused(.integrityFailure) { _ = try await content(id, notes, folder) }
            notes.alice.network.beHonest()
            #expect(try await content(id, notes, folder) == bytes)
        }
    }

    // MARK: The network

    private func offline(_ notes: Notes) async throws {
        try await refusesLookUp(notes, .offline, .networkFailure)
        notes.alice.network.inject(.offline)
        await expectRefused(.networkFailure) { try await notes.alice.save("new", in: notes.zone, body: "new") }
        notes.alice.network.beHonest()
        await expectRefused(.unknownItem) {
            _ = try await notes.alice.body(of: Record.ID(recordName: "new", zoneID: notes.zone))
        }
    }

    private func refusal(_ notes: Notes) async throws {
        let asked = notes.alice.network.requests.count { $0.hasSuffix("records/modify") }
        notes.alice.network.inject(.refusal(.serviceUnavailable, retryAfter: 20, of: "records/modify", times: 2))
        try await notes.alice.save("new", in: notes.zone, body: "new")
        #expect(notes.alice.network.requests.count { $0.hasSuffix("records/modify") } == asked + 3)
        for code in [SealKitError.Code.quotaExceeded, .serviceUnavailable, .requestRateLimited] {
            notes.alice.network.inject(.refusal(code, of: "records/modify"))
            await expectRefused(code) { try await notes.alice.save("\(code)", in: notes.zone, body: "x") }
            notes.alice.network.beHonest()
        }
    }

    private func lostAnswers(_ notes: Notes) async throws {
        notes.alice.network.inject(.lostAnswers(to: "records/modify"))
        let saved = try await notes.alice.save("new", in: notes.zone, body: "new")
        #expect(try await notes.alice.own.record(for: saved.recordID).recordChangeTag == saved.recordChangeTag)
        notes.alice.network.inject(.lostAnswers(to: "records/modify", times: nil))
        await expectRefused(.serverResponseLost) { try await notes.alice.save("lost", in: notes.zone, body: "lost") }
        notes.alice.network.beHonest()
        #expect(try await notes.alice.body(of: Record.ID(recordName: "lost", zoneID: notes.zone)) == "lost")
    }

    private func brokenDownloads(_ notes: Notes) async throws {
        try await withFolder { folder in
            let bytes = pattern(300_000)
            let id = try await saveFile("one", bytes, notes, folder)
            notes.alice.network.inject(.brokenDownloads(after: 40_000))
            #expect(try await content(id, notes, folder) == bytes)
            // Where each of them breaks off there is an end to trying.
            notes.alice.network.inject(.brokenDownloads(after: 0, times: 1_000))
            await expectRefused(.networkFailure) { _ = try await content(id, notes, folder) }
        }
    }
}

extension Result where Failure == SealKitError {
    fileprivate var code: SealKitError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}
