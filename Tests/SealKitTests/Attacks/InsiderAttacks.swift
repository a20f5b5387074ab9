import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Members who sign what the server has no way to look into: their owner is told who it was, and goes on.
@Suite(.timeLimit(.minutes(60))) struct InsiderAttacks {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    /// Whoever signed is named, and nobody else is blamed.
    private func expectBlamed(_ person: Person, _ name: String, _ error: SealKitError?) {
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains(person.name), "\(text)")
        #expect(text.contains(name), "\(text)")
        #expect(!text.contains("the server or somebody"), "\(text)")
    }

    @Test(
        "A member signs records with keys, fields and files that open nothing: the owner is told who, and deletes, overwrites and passes them."
    )
    func attack71_recordsThatDoNotOpen() async throws {
        let world = try await AttackedZone()
        let (ann, bob) = (world.ann, world.bob)
        let insider = Insider(person: bob, zone: world.joined)
        let file = temporary.url.appendingPathComponent("file")
        try pattern(100_000).write(to: file)
        try await insider.signWithRandomKey("note", following: try await bob.shared.record(for: world.shared))
        try await insider.signWithRandomKey("junk")
        try await insider.signWithRandomField("rubbish")
        try await insider.signForAnotherFile("file", file)
        func id(_ name: String) -> Record.ID { Record.ID(recordName: name, zoneID: world.zone) }

        for name in ["note", "junk", "rubbish"] {
            let told = await expectRefused(.integrityFailure, by: .authenticationFailed) {
                _ = try await ann.own.record(for: id(name))
            }
            expectBlamed(bob, name, told)
            #expect(told?.description.contains("the server") == false)
        }
        let told = await expectRefused(.integrityFailure, by: .invalidProof) {
            _ = try await ann.own.record(for: id("file"))
        }
        expectBlamed(bob, "file", told)
        let changes = try await ann.own.recordZoneChanges(inZoneWith: world.zone)
        let failed = changes.modifications.filter { $0.result.error != nil }.map(\.recordID.recordName)
        #expect(Set(failed) == ["note", "junk", "rubbish", "file"])
        #expect(changes.deletions.isEmpty)

        try await passing(ann, world.zone, bob)
        try await mending(ann, world, id)
        // Whoever reads on finds a zone like any other.
        let left = try await world.carol.shared.recordZoneChanges(inZoneWith: world.joined)
        #expect(left.modifications.allSatisfy { $0.result.error == nil })
        #expect(try await world.carol.body(of: Record.ID(recordName: "note", zoneID: world.joined)) == "mended")
    }

    /// Keys, exports and audit go past what does not open, and list it.
    private func passing(_ ann: Person, _ zone: RecordZone.ID, _ bob: Person) async throws {
        try await ann.own.rotateKeys(of: zone)
        let all: Set = ["note", "junk", "rubbish", "file"]
        // The share's own record, and the one whose file is another one: its values are there.
        let rekeyed = try await ann.own.rekey(zone)
        #expect(rekeyed.rekeyed == 2)
        #expect(Set(rekeyed.failures.keys.map(\.recordName)) == all.subtracting(["file"]))
        for (recordID, error) in rekeyed.failures { expectBlamed(bob, recordID.recordName, error) }
        let keys = try await ann.own.keyStatus(of: zone)
        #expect(keys.newestEpoch == 1)
        #expect(keys.oldestEpochInUse == 0)
        #expect(keys.staleRecordCount == 3)
        #expect(keys.failures.count == 1)
        let raw = try await ann.own.exportRaw(zone, to: temporary.url.appendingPathComponent("raw"))
        #expect(raw.records == 1)
        #expect(raw.assets == 0)
        #expect(Set(raw.failures.keys.map(\.recordName)) == all)
        let files = try FileManager.default.contentsOfDirectory(
            atPath: temporary.url.appendingPathComponent("raw").path)
        #expect(files == ["export.json"])
        let data = try await ann.container.exportData(to: temporary.url.appendingPathComponent("data"), zoneIDs: [zone])
        #expect(data.records == 0)
        #expect(data.assets == 0)
        #expect(data.unreadable == 4)
        #expect(Set(data.failures.keys.map(\.recordName)) == all)
        let about = try JSONDecoder().decode(
            ArchiveFormat.Zone.self,
            from: Data(contentsOf: temporary.url.appendingPathComponent("data/zones/1/zone.json")))
        #expect(Set(about.unreadable.map(\.recordName)) == all)
        // Of the file's record that has been sealed again its owner is the last author.
        #expect(
            about.unreadable.allSatisfy { $0.reason?.contains($0.recordName == "file" ? ann.name : bob.name) == true })
        let audit = try await ann.container.audit()
        #expect(audit.failures.isEmpty)
        #expect(audit.scopes.count == 1)
        #expect(audit.outcome == .violated)
        #expect(Set(audit.violations.compactMap(\.recordName)) == all)
        #expect(
            audit.violations.allSatisfy {
                $0.reason.contains(bob.name) || ($0.recordName == "file" && $0.reason.contains(ann.name))
            })
    }

    private func mending(_ ann: Person, _ world: AttackedZone, _ id: (String) -> Record.ID) async throws {
        // Nothing is lost without its user's word.
        let draft = ann.note(in: world.zone, "mended", name: "note")
        for policy in [Database.SavePolicy.ifServerRecordUnchanged, .changedKeys] {
            let result = try await ann.own.modifyRecords(saving: [draft], savePolicy: policy)
            #expect(result.saveResults[draft.recordID]?.failureCode == .integrityFailure)
        }
        let other = Record(recordType: "Letter", recordID: id("rubbish"))
        let refused = try await ann.own.modifyRecords(saving: [other], savePolicy: .allKeys, atomically: false)
        #expect(refused.saveResults[other.recordID]?.failureCode == .invalidArguments)
        // With it the record goes on counting, and is its creator's still.
        let mended = try await ann.own.modifyRecords(
            saving: [draft, ann.note(in: world.zone, "clean", name: "rubbish")], deleting: [id("junk"), id("file")],
            savePolicy: .allKeys)
        let saved = try #require(try mended.saveResults[draft.recordID]?.get())
        #expect(saved.base?.statement.revision == 3)
        #expect(saved.creatorUserRecordID?.recordName == ann.name)
        #expect(mended.deleteResults.count == 2)
        #expect(mended.deleteResults.values.allSatisfy { $0.failureCode == nil })
        let rubbish: String? = try await ann.own.record(for: id("rubbish"))["headline"]
        #expect(rubbish == nil, "nothing is carried over from what did not open")
        #expect(await failure { _ = try await ann.own.record(for: id("junk")) } == .unknownItem)
        let status = try await ann.own.keyStatus(of: world.zone)
        #expect(status.staleRecordCount == 0)
        #expect(status.failures.isEmpty)
        try await ann.container.forget(try await ann.container.violations())
        let audit = try await ann.container.audit()
        #expect(audit.outcome == .clean, "\(audit)")
    }

    @Test(
        "A member opens the key that is due and gives others grants that open nothing: each is told whom and how to mend it."
    )
    func attack72_grantsThatOpenNothing() async throws {
        let world = try await AttackedZone()
        let (ann, bob) = (world.ann, world.bob)
        try await world.carol.shared.leaveShare(of: world.joined)
        let insider = Insider(person: bob, zone: world.joined)
        try await insider.openKey(cheating: [ann])
        try await bob.shared.save(bob.note(in: world.joined, "for nobody else", name: "secret"))
        let secret = Record.ID(recordName: "secret", zoneID: world.zone)

        _ = try await ann.keeper(of: world.zone).refresh()
        let told = await expectRefused(.permissionFailure) { try await ann.own.save(ann.note(in: world.zone, "x")) }
        #expect(told?.remedy.contains("rotateKeys(of:)") == true, "\(told.map { "\($0)" } ?? "")")
        #expect(told?.description.contains("ask") == false, "\(told.map { "\($0)" } ?? "")")
        let unread = await expectRefused(.integrityFailure, by: .missingKey) {
            _ = try await ann.own.record(for: secret)
        }
        expectBlamed(bob, "secret", unread)
        #expect(try await ann.body(of: world.note.recordID) == "from Ann")
        let status = try await ann.own.keyStatus(of: world.zone)
        #expect(!status.isNewestHeld)
        #expect(status.newestEpoch == 1)
        #expect(status.oldestEpochInUse == 0)
        let found = try #require(try await ann.container.audit().scopes.first)
        #expect(found.badGrants == [1])
        #expect(found.badGrantAuthors.map(\.recordName) == [bob.name])
        let raw = try await ann.own.exportRaw(world.zone, to: temporary.url.appendingPathComponent("raw"))
        #expect(raw.records == 2)
        #expect(raw.failures.keys.map(\.recordName) == ["secret"])

        // Another key, and nothing under the bad one any more: it stays on the record, and harms nobody.
        try await ann.own.rotateKeys(of: world.zone)
        try await ann.own.save(ann.note(in: world.zone, "after", name: "after"))
        let rekeyed = try await ann.own.rekey(world.zone)
        #expect(rekeyed.rekeyed == 2)
        #expect(rekeyed.failures.keys.map(\.recordName) == ["secret"])
        try await ann.own.deleteRecord(withID: secret)
        try await ann.container.forget(try await ann.container.violations())
        let mended = try await ann.container.audit()
        #expect(
            mended.outcome == .clean && mended.scopes.first?.badGrants == [1]
                && mended.scopes.first?.keys.oldestEpochInUse == 2)
        #expect(try await bob.body(of: Record.ID(recordName: "after", zoneID: world.joined)) == "after")
    }

    @Test(
        "An administrator signs the share's own record such that it does not open: the owner puts it out all the same.")
    func attack73_aShareRecordThatDoesNotOpen() async throws {
        let world = try await AttackedZone()
        let (ann, bob) = (world.ann, world.bob)
        try await world.promote(bob)
        let shareID = Record.ID(recordName: Share.recordName, zoneID: world.joined)
        _ = try await bob.keeper(of: world.joined).refresh()
        let existing = try #require(try await bob.shared.shareRecord(shareID))
        try await Insider(person: bob, zone: world.joined).signWithRandomKey(
            Share.recordName, type: Share.recordType, following: existing)
        var share = try await ann.own.share(for: world.zone)
        #expect(share.title.isEmpty)
        #expect(share.participants.count == 3)
        let noted = try await ann.container.violations().filter { $0.recordName == Share.recordName }
        #expect(noted.count == 1)
        #expect(noted.allSatisfy { $0.reason.contains(bob.name) })
        expectRefused(
            noted.first.map { SealKitError($0.code, $0.reason) }, .integrityFailure, by: .authenticationFailed)
        share.removeParticipant(try #require(share.participant(bob)))
        share.title = "Garden plans"
        share = try await ann.own.save(share)
        #expect(share.participants.count == 2)
        #expect(share.title == "Garden plans")
        #expect(try await world.carol.shared.share(for: world.joined).title == "Garden plans")
        #expect(await failure { try await bob.shared.save(bob.note(in: world.joined, "x")) } == .zoneNotFound)
    }
}
