import Foundation
import SealClient
import SealCoding
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit

/// Attacks on what a URL shows before anybody accepts.
extension LinkAttacks {
    /// A zone of Ann's that Bob may write in and Carol is invited to, and Carol behind the attacker.
    private struct Shown {
        let ann, bob: Person
        let carol: Person
        let network: HostileNetwork
        let zone: RecordZone.ID
        let url: ShareURL
        let text: String

        init(_ server: ServerProcess) async throws {
            (ann, bob) = (try await Person(server), try await Person(server))
            (carol, network) = try await Person(server).behindAttacker()
            let (zone, _, share) = try await ann.share(with: [(bob, .readWrite), (carol, .readOnly)])
            text = try #require(share.url)
            url = try ShareURL(text)
            self.zone = zone
            try await bob.join(text)
        }

        func roster() async throws -> Roster { try await ann.keeper(of: zone).refresh().roster }

        /// What the server would answer with.
        func serve(_ preview: SignedPreview) async throws {
            var random = SystemRandom()
            let sealed = Data(try url.secret.seal(preview, scopeID: try await roster().scopeID, random: &random))
            network.beHonest()
            network.rewrite("share/metadata", Sealkit_V1_ShareMetadataResponse.self) { $0.preview = sealed }
        }

        /// What the server has.
        func stored() async throws -> SignedPreview {
            network.beHonest()
            network.forget()
            _ = try await carol.container.shareMetadata(for: text)
            let answer = try Sealkit_V1_ShareMetadataResponse(
                serializedBytes: try #require(network.exchanges.last).response)
            return try url.secret.openPreview([UInt8](answer.preview), scopeID: try await roster().scopeID)
        }
    }

    @Test("Whoever has a URL makes up, with the server, a title for what it leads to: refused before anybody accepts.")
    func attack66_aTitleThatNobodySigned() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let shown = try await Shown(server)
        let forged = SharePreview(title: "Family photos", shareType: "org.example.album")
        let (roster, good) = (try await shown.roster(), try await shown.stored())
        func claimed(_ author: UserID, signature: [UInt8]) -> SignedPreview {
            SignedPreview(
                forged, author: author, rosterSequence: roster.sequence, rosterHead: roster.head, time: currentTime(),
                signature: signature)
        }
        // Under the owner's name: with the owner's signature of another title, and with a participant's.
        let bobs = SignedPreview(
            forged, by: shown.bob.userID, key: shown.bob.identity.keys.signingKey, on: roster, time: currentTime(),
            after: nil)
        for signature in [good.signature, bobs.signature] {
            try await shown.serve(claimed(shown.ann.userID, signature: signature))
            await expectRefused(.integrityFailure, by: .invalidSignature) {
                _ = try await shown.carol.container.shareMetadata(for: shown.text)
            }
        }
        // In the own name of a participant, and of a stranger who was given the URL.
        let mallory = try await Person(server)
        let mallorys = SignedPreview(
            forged, by: mallory.userID, key: mallory.identity.keys.signingKey, on: roster, time: currentTime(),
            after: nil)
        for preview in [bobs, mallorys] {
            try await shown.serve(preview)
            await expectRefused(.integrityFailure, by: .authorNotPermitted) {
                _ = try await shown.carol.container.shareMetadata(for: shown.text)
            }
        }
        // Good but for the right to say so: as an administrator's it is shown.
        try await shown.ann.promote(shown.bob, in: shown.zone)
        let promoted = try await shown.roster()
        try await shown.serve(
            SignedPreview(
                forged, by: shown.bob.userID, key: shown.bob.identity.keys.signingKey, on: promoted,
                time: currentTime(), after: nil))
        #expect(try await shown.carol.container.shareMetadata(for: shown.text).title == "Family photos")
    }

    @Test("An older title than a device has seen behind a URL is shown to it again: refused.")
    func attack67_anOlderTitle() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let shown = try await Shown(server)
        let first = try await shown.stored()
        try await shown.ann.edit(shown.zone) { $0.title = "Vegetables" }
        #expect(try await shown.carol.container.shareMetadata(for: shown.text).title == "Vegetables")
        try await shown.serve(first)
        await expectRefused(.rollback) { _ = try await shown.carol.container.shareMetadata(for: shown.text) }
        // To a device that has seen neither it is as good as the other: what it never saw it cannot miss.
        let (fresh, network) = try shown.carol.freshBehindAttacker()
        var random = SystemRandom()
        let sealed = Data(try shown.url.secret.seal(first, scopeID: try await shown.roster().scopeID, random: &random))
        network.rewrite("share/metadata", Sealkit_V1_ShareMetadataResponse.self) { $0.preview = sealed }
        #expect(try await fresh.container.shareMetadata(for: shown.text).title == "Garden plans")
        shown.network.beHonest()
        #expect(try await shown.carol.container.shareMetadata(for: shown.text).title == "Vegetables")
    }

    /// Carol's device has verified that Bob administers nothing any more.
    @Test func aRosterOfBeforeARemovalVouchesForNoTitle() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let shown = try await Shown(server)
        try await shown.ann.promote(shown.bob, in: shown.zone)
        let zone = try await shown.carol.join(shown.text)
        let before = try await shown.roster()
        try await shown.ann.edit(shown.zone) { share in
            share.removeParticipant(try #require(share.participant(shown.bob)))
        }
        _ = try await shown.carol.keeper(of: zone).refresh()
        var random = SystemRandom()
        let forged = SignedPreview(
            SharePreview(title: "Family photos", shareType: "org.example.album"), by: shown.bob.userID,
            key: shown.bob.identity.keys.signingKey, on: before, time: currentTime(), after: nil)
        let sealed = Data(try shown.url.secret.seal(forged, scopeID: before.scopeID, random: &random))
        shown.network.rewrite("share/metadata", Sealkit_V1_ShareMetadataResponse.self) { answer in
            answer.entries = Array(answer.entries.prefix(before.hashes.count))
            answer.preview = sealed
        }
        await expectRefused(.rollback) { _ = try await shown.carol.container.shareMetadata(for: shown.text) }
        let violations = try await shown.carol.container.violations()
        #expect(violations.contains { $0.zoneID == zone && $0.reason.contains("older roster") })
        // Another device of hers, which knows nothing of it, cannot tell.
        let fresh = try shown.carol.onFreshDevice(transport: shown.network)
        #expect(try await fresh.container.shareMetadata(for: shown.text).title == "Family photos")
        shown.network.beHonest()
        #expect(try await shown.carol.container.shareMetadata(for: shown.text).title == "Garden plans")
    }

    /// Another process of Carol's device has verified the removal; to this one the server shows, in its place, an entry
    /// that Bob has signed as the administrator that he was.
    @Test func aForkBehindAURLIsHeldAgainstWhatTheWholeDeviceKnows() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let shown = try await Shown(server)
        try await shown.ann.promote(shown.bob, in: shown.zone)
        let zone = try await shown.carol.join(shown.text)
        let known = try await shown.carol.keeper(of: zone).refresh()
        let bobs = try await shown.bob.keeper(of: zone).refresh()
        var random = SystemRandom()
        let draft = try shown.bob.container.core.author.next(
            on: bobs.roster, changes: [.setPermission(shown.carol.userID, .readWrite)], rotating: false,
            current: bobs.currentKey(), time: 1, random: &random)
        var fork = bobs.roster
        try fork.append(draft.entry)
        try await shown.ann.edit(shown.zone) { share in
            share.removeParticipant(try #require(share.participant(shown.bob)))
        }
        let (beside, _) = try shown.carol.behindAttacker()
        #expect(try await beside.keeper(of: zone).refresh().roster.sequence >= fork.sequence)
        #expect(known.roster.sequence < fork.sequence)
        let forged = SignedPreview(
            SharePreview(title: "Family photos", shareType: "org.example.album"), by: shown.bob.userID,
            key: shown.bob.identity.keys.signingKey, on: fork, time: currentTime(), after: nil)
        let sealed = Data(try shown.url.secret.seal(forged, scopeID: fork.scopeID, random: &random))
        let (count, entry) = (bobs.roster.hashes.count, draft.entry.wire)
        shown.network.rewrite("share/metadata", Sealkit_V1_ShareMetadataResponse.self) { answer in
            answer.entries = Array(answer.entries.prefix(count)) + [entry]
            answer.preview = sealed
        }
        await expectRefused(.rollback) { _ = try await shown.carol.container.shareMetadata(for: shown.text) }
        shown.network.beHonest()
        #expect(try await shown.carol.container.shareMetadata(for: shown.text).title == "Garden plans")
    }
}
