import Foundation
import NIOCore
import SealClient
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit

/// Attacks on what passes by: everything that is stored, sent and told.
extension CodeAttacks {
    @Test(
        "Canaries in every encrypted value, asset and title: database, journal, blobs, logs, mail and traffic hold none, nor any key."
    )
    func attack37_canaries() async throws {
        let server = try ServerProcess(arguments: ["--log-level", "trace"])
        defer { server.stop() }
        let (ann, network) = try await Person(server).behindAttacker()
        let (carol, hers) = try await Person(server).behindAttacker()
        let canary = "canary-\(UUID().uuidString)"
        let place = try await LinkAttacks.Placeholder(server, ann: ann)
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        try Data(String(repeating: canary, count: 5_000).utf8).write(to: file)
        var note = ann.note(in: place.zone, canary + "-body")
        note.encryptedValues["list"] = [canary + "-1", canary + "-2"]
        note.encryptedValues["data"] = Data((canary + "-data").utf8)
        note["file"] = Asset(fileURL: file)
        note["plain"] = "\(canary)-plain".replacing("canary", with: "visible")
        note = try await ann.own.save(note)
        var share = try await ann.own.share(for: place.zone)
        share.title = canary + "-title"
        share.shareType = canary + "-type"
        share.thumbnailImageData = Data((canary + "-thumbnail").utf8)
        share = try await ann.own.save(share)
        let joined = try await place.accept(carol)
        let found = try await carol.shared.record(for: Record.ID(recordName: note.recordID.recordName, zoneID: joined))
        #expect(found.encryptedValues["body"] == canary + "-body")
        var edited = found
        edited.encryptedValues["body"] = canary + "-edited"
        try await carol.shared.save(edited)
        try await ann.own.rotateKeys(of: place.zone)
        _ = try await ann.own.record(for: note.recordID)

        let heard = network.everything + hers.everything + server.everything
        // The ear is good: what is plain is there.
        #expect(heard.range(of: Data("visible-".utf8)) != nil)
        #expect(heard.range(of: Data("plain".utf8)) != nil)
        #expect(
            heard.range(of: Data(canary.dropFirst("canary-".count).utf8)) != nil, "the plain value has the same digits")
        #expect(!heard.shows(Array(canary.utf8)))
        var secrets: [[UInt8]] = []
        for person in [ann, carol] {
            let keys = person.identity.keys
            secrets += [person.account.seed.bytes, person.account.seed.storageKey(), keys.grantSeed].map {
                $0.copyBytes()
            }
            secrets.append(Hash.derive(person.account.seed.bytes, .loginSeed, []).copyBytes())
            secrets.append(
                Hash.derive(person.account.seed.bytes, .signingSeed, [UInt8](keys.container.utf8)).copyBytes())
        }
        let view = try await ann.keeper(of: place.zone).refresh()
        #expect(view.keys.count == 2)
        for key in view.keys.values { secrets += [key.key.copyBytes(), key.wrappingKey.copyBytes()] }
        secrets.append(try #require(found.base?.recordKey).copyBytes())
        for url in [place.url, place.shareWide] { secrets.append(try ShareURL(url).secret.bytes.copyBytes()) }
        if case .asset(let asset)? = found.fields["file"] {
            secrets.append(try #require(asset.remote?.sealed).fileKey.copyBytes())
        }
        #expect(secrets.count == 18)
        for secret in secrets { #expect(!heard.shows(secret)) }
        AttackOutcome.held("no canary and none of \(secrets.count) keys in \(heard.count / 1024) KiB")
    }

    @Test("Removal and new keys end sessions, uploads and notification streams at once.")
    func attack51_removalEndsWhatIsUnderWay() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let world = try await AttackedZone(server: server)
        let bob = world.bob
        try await bob.shared.save(DatabaseSubscription(subscriptionID: "all"))
        let desk = try bob.onFreshDevice()
        var notifications = desk.container.notifications().makeAsyncIterator()
        #expect(try await notifications.next()?.content == .ready)
        // While he belongs to it he is told, and his upload is taken.
        try await world.ann.own.save(world.ann.note(in: world.zone, "told"))
        if case .fired(let fired)? = try await notifications.next()?.content {
            #expect(fired.subscriptionID == "all")
        } else {
            Issue.record("nothing was told")
        }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        try pattern(3_000_000).write(to: file)
        var record = bob.note(in: world.joined, "x", name: "with a file")
        record["file"] = Asset(fileURL: file)
        // In the middle of the upload he is removed.
        let network = try HostileNetwork(server)
        let uploader = try bob.through(network)
        let isRemoved = LockedValue(false)
        network.duringUpload {
            guard !isRemoved.value else { return }
            isRemoved.change { $0 = true }
            try await AttackedZone.remove(bob, from: world.zone, of: world.ann)
        }
        let draft = record
        await expectRefused(.zoneNotFound) { try await uploader.shared.save(draft) }
        #expect(isRemoved.value)
        #expect(network.sent(to: "records/modify").isEmpty)
        // What is written now he is not told: the next that he hears is of a zone of his own.
        try await world.ann.own.save(world.ann.note(in: world.zone, "not told"))
        let own = try await bob.makeZone()
        try await bob.own.save(DatabaseSubscription(subscriptionID: "own"))
        try await bob.own.save(bob.note(in: own, "his own"))
        var heard: [RecordZone.ID?] = []
        while heard.last != own, let next = try await notifications.next() {
            if case .fired(let fired) = next.content { heard.append(fired.zoneID) }
        }
        let told = heard.filter { $0 == world.joined }.count
        #expect(told <= 1, "at most that the zone is not shared any more")
        await expectRefused(.zoneNotFound) { _ = try await bob.shared.record(for: world.shared) }
        #expect(try await world.carol.body(of: world.shared) == "from Ann")
        try await TimeAttacks.revocationEndsWhatIsUnderWay(try await Person(server))
        try await newKeysEndWhatIsUnderWay(world, server)
    }

    /// Whoever has a copy of Ann's keys is logged in, listens and uploads, until she takes new ones.
    private func newKeysEndWhatIsUnderWay(_ world: AttackedZone, _ server: ServerProcess) async throws {
        let ann = world.ann
        let network = try HostileNetwork(server)
        let thief = try ann.starting(from: ann.account.seeds, trust: nil, transport: network)
        try await thief.own.save(thief.note(in: world.zone, "by the thief", name: "thief's"))
        let listening = try ann.starting(from: ann.account.seeds, trust: nil)
        var notifications = listening.container.notifications().makeAsyncIterator()
        #expect(try await notifications.next()?.content == .ready)
        let kept = KeptKeys(ann)
        let hasRotated = LockedValue(false)
        network.duringUpload {
            guard !hasRotated.value else { return }
            hasRotated.change { $0 = true }
            try await ann.rotateKeys(kept)
        }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        try pattern(3_000_000).write(to: file)
        var record = thief.note(in: world.zone, "x", name: "thief's file")
        record["file"] = Asset(fileURL: file)
        let draft = record
        network.forget()
        await expectRefused(.keysReplaced) { try await thief.own.save(draft) }
        #expect(hasRotated.value)
        #expect(network.sent(to: "records/modify").isEmpty)
        var ended: SealKitError?
        do { while try await notifications.next() != nil {} } catch { ended = error as? SealKitError }
        #expect(ended?.code == .keysReplaced)
        await expectRefused(.keysReplaced) { _ = try await listening.own.allRecordZones() }
        try await ann.own.save(ann.note(in: world.zone, "Ann goes on"))
    }
}
