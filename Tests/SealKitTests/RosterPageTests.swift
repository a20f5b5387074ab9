import Foundation
import SealClient
import SealCoding
import SealKitTesting
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Rosters that come in pages: each is verified before the next is asked for, from where this device stands.
@Suite(.timeLimit(.minutes(60))) struct RosterPageTests {
    /// Ann's zone with Bob, and a roster of some length with a few epochs.
    private func shared() async throws -> (ann: Person, bob: Person, zone: RecordZone.ID, url: String?) {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, _) = try await ann.share()
        for _ in 0..<3 {
            try await ann.edit(zone) { $0.publicPermission = .readOnly }
            try await ann.edit(zone) { $0.publicPermission = .none }
        }
        let invited = try await ann.edit(zone) { $0.addParticipant(try await ann.participant(bob, .readWrite)) }
        return (ann, bob, zone, invited.url)
    }

    /// Answers hold two entries and one grant at most.
    private func cut(_ network: HostileNetwork) {
        network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { answer in
            guard !answer.rosters.isEmpty else { return }
            if answer.rosters[0].entries.count > 2 {
                answer.rosters[0].entries = Array(answer.rosters[0].entries.prefix(2))
                answer.rosters[0].grants = []
                answer.rosters[0].moreComing = true
            } else if answer.rosters[0].grants.count > 1 {
                answer.rosters[0].grants = Array(answer.rosters[0].grants.suffix(1))
                answer.rosters[0].moreGrants = true
            }
        }
        network.rewrite("share/metadata", Sealkit_V1_ShareMetadataResponse.self) { answer in
            guard answer.entries.count > 2 else { return }
            answer.entries = Array(answer.entries.prefix(2))
            (answer.moreComing, answer.invitationID, answer.grant) = (true, Data(), .init())
        }
    }

    @Test func everyPageIsFetchedAndVerified() async throws {
        let (ann, bob, zone, url) = try await shared()
        let (paged, network) = try bob.behindAttacker()
        cut(network)
        let joined = try await paged.join(url)
        #expect(network.sent(to: "share/metadata").count >= 4)
        let note = try await paged.shared.save(paged.note(in: joined, "from bob"))
        // A device that has seen nothing, of the owner: all epochs open, by the newest grant alone.
        let (fresh, owners) = try ann.freshBehindAttacker()
        cut(owners)
        let found = try await fresh.own.record(for: Record.ID(recordName: note.recordID.recordName, zoneID: zone))
        let body: String? = found.encryptedValues["body"]
        #expect(body == "from bob")
        let core = fresh.container.core
        let keeper = try core.keeper(of: core.scope(of: zone))
        let view = try await keeper.refresh()
        #expect(view.keys.count == view.roster.epochs.count)
        #expect(view.keys.count >= 4)
        let asked = owners.sent(to: "rosters/fetch").count
        #expect(asked >= view.roster.hashes.count / 2)
        #expect(asked < view.roster.hashes.count)
        // For exports: all entries, and all of the owner's grants.
        let whole = try await keeper.everything()
        #expect(whole.entries.count == view.roster.hashes.count)
        #expect(whole.grants.count == view.keys.count)
        #expect(whole.grants.map(\.epoch) == whole.grants.map(\.epoch).sorted())
    }

    @Test(
        "A server draws out a roster, or the keys that go with it, page after page: refused at the first that leads nowhere."
    )
    func attack90_pagesThatLeadNowhere() async throws {
        let (ann, bob, zone, url) = try await shared()
        let first = LockedValue<[Sealkit_V1_SignedEntry]>([])
        let theSameAgain = ServerFault.rewriting(nil, "rosters/fetch", Sealkit_V1_FetchRostersResponse.self) {
            _, answer in
            guard !answer.rosters.isEmpty else { return }
            if first.value.isEmpty {
                let page = Array(answer.rosters[0].entries.prefix(2))
                first.change { $0 = page }
            }
            (answer.rosters[0].entries, answer.rosters[0].moreComing) = (first.value, true)
        }
        for lie in [.endlessRoster(of: zone), theSameAgain] {
            let (fresh, network) = try ann.freshBehindAttacker()
            network.inject(lie)
            let id = Record.ID(recordName: "any", zoneID: zone)
            await expectRefused(.serverRejectedRequest) { _ = try await fresh.own.record(for: id) }
            #expect(network.sent(to: "rosters/fetch").count <= 3)
        }
        // Grants: the same page again and again, and more before the first epoch.
        for epoch in [nil, 2, 0] as [UInt32?] {
            let (fresh, network) = try ann.freshBehindAttacker()
            network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { answer in
                guard !answer.rosters.isEmpty else { return }
                if let epoch { answer.rosters[0].grants = answer.rosters[0].grants.filter { $0.epoch == epoch } }
                answer.rosters[0].moreGrants = true
            }
            let core = fresh.container.core
            let keeper = try core.keeper(of: core.scope(of: zone))
            #expect(await failure { _ = try await keeper.everything() } == .serverRejectedRequest)
            #expect(network.sent(to: "rosters/fetch").count <= 8)
        }
        let (stranger, network) = try bob.behindAttacker()
        network.rewrite("share/metadata", Sealkit_V1_ShareMetadataResponse.self) { answer in
            if answer.entries.count > 2 {
                answer.entries = Array(answer.entries.prefix(2))
            } else {
                answer.entries = []
            }
            answer.moreComing = true
            if network.sent(to: "share/metadata").count >= 1 { answer.entries = [] }
        }
        #expect(await failure { _ = try await stranger.join(url) } == .serverRejectedRequest)
        #expect(network.sent(to: "share/metadata").count == 2)
    }

    /// Epochs that were asked for before, in front of a page that seems to go on; epochs that there are not, one a
    /// page.
    @Test func pagesOfGrantsEndWithTheEpochs() async throws {
        let (ann, _, zone, _) = try await shared()
        let pages: [@Sendable (UInt32) -> [UInt32]] = [{ _ in [100, 1] }, { [.max - 1 - $0] }]
        for page in pages {
            let (fresh, network) = try ann.freshBehindAttacker()
            let count = LockedValue<UInt32>(0)
            network.rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { answer in
                guard !answer.rosters.isEmpty, count.value < 50 else { return }
                let epochs = page(count.value)
                count.change { $0 += 1 }
                let grant = answer.rosters[0].grants.first ?? .init()
                answer.rosters[0].grants = epochs.map { epoch in
                    .with {
                        $0 = grant
                        $0.epoch = epoch
                    }
                }
                answer.rosters[0].moreGrants = true
            }
            let core = fresh.container.core
            let keeper = try core.keeper(of: core.scope(of: zone))
            #expect(await failure { _ = try await keeper.refresh() } == .serverRejectedRequest)
            #expect(await failure { _ = try await keeper.everything() } == .serverRejectedRequest)
            #expect(count.value <= 6)
        }
    }
}
