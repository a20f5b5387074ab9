import Foundation
import SealClient
import SealEnvelope
import SealKitTesting
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Within one zone: from one shared hierarchy into another, and beside both.
extension TimeAttacks {
    /// Ann shares a list with Bob, who writes there, and a diary with Carol; a note is her own.
    private struct Hierarchies {
        let zone: RecordZone.ID
        /// As Bob and Carol name it.
        let joined: RecordZone.ID
        let list: ZoneView
        let diary: ZoneView
        let entry: Record
        let note: Record

        init(_ ann: Person, _ bob: Person, _ carol: Person) async throws {
            zone = try await ann.makeZone()
            var views: [ZoneView] = []
            for (name, person) in [("list", bob), ("diary", carol)] {
                let root = try await ann.own.save(ann.note(in: zone, name, name: name))
                var share = Share(rootRecord: root)
                share.addParticipant(try await ann.participant(person, .readWrite))
                let saved = try await ann.own.save(share, rootRecord: root).share
                _ = try await person.join(saved.url)
                let core = ann.container.core
                views.append(
                    try await core.keeper(of: try core.scope(of: zone).ofShare(saved.recordID.recordName)).refresh())
            }
            (list, diary) = (views[0], views[1])
            joined = RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)
            var entry = ann.note(in: zone, "secret", name: "entry")
            entry.setParent(try await ann.own.record(for: Record.ID(recordName: "diary", zoneID: zone)))
            self.entry = try await ann.own.save(entry)
            note = try await ann.own.save(ann.note(in: zone, "private", name: "beside"))
        }
    }

    func attack55BetweenHierarchies(_ world: AttackedZone) async throws {
        let (ann, bob, carol) = (world.ann, world.bob, world.carol)
        let it = try await Hierarchies(ann, bob, carol)
        _ = try await ann.own.recordZoneChanges(inZoneWith: it.zone)
        _ = try await carol.shared.recordZoneChanges(inZoneWith: it.joined)
        let (key, foreign) = (try it.list.currentKey(), try it.diary.currentKey())
        for record in [it.entry, it.note] {
            let name = record.recordID.recordName
            var save = Forgery.statement(by: bob, it.list, name: name, following: record.base)
            save.parent = "list"
            var moved = save
            moved.formerScope = record.base?.statement.place
            let tombstone = Forgery.statement(by: bob, it.list, kind: .delete, name: name, following: record.base)
            let body: [(name: String, field: FieldDraft)] = [("body", .encrypted(.string("Bob's")))]
            let forged = try Forgery.record(save, body, by: bob, key: key)
            let gone = try Forgery.record(tombstone, [], by: bob, key: key)
            #expect(
                try Forgery.verifies(forged, it.list.roster) && Forgery.verifies(gone, it.list.roster),
                "in his own share it would be a record like any other")
            let (novice, open) = try ann.freshBehindAttacker()
            open.show([forged], citing: [it.list, it.diary])
            let shown = try await novice.own.record(for: record.recordID).encryptedValues["body"] as String?
            #expect(shown == "Bob's", "nothing but what was seen before stands against it")
            // Where it is, everybody who reads there knows: the owner, and the diary's reader.
            for lie in [forged, gone] {
                let (reader, network) = try ann.behindAttacker()
                network.show([lie], citing: [it.list, it.diary])
                await expectRefused(.integrityFailure, "in another share than its owner left it in") {
                    _ = try await reader.own.record(for: record.recordID)
                }
            }
            // A move is the owner's to sign, and what is in a scope somebody's who is in it.
            let carried = try Forgery.record(moved, body, by: bob, key: key)
            let inside = Forgery.statement(by: bob, it.diary, name: name, following: record.base)
            let intruding = try Forgery.record(inside, body, by: bob, key: foreign)
            for lie in [carried, intruding] {
                let (reader, network) = try ann.behindAttacker()
                network.show([lie], citing: [it.list, it.diary])
                await expectRefused(.integrityFailure, by: .authorNotPermitted) {
                    _ = try await reader.own.record(for: record.recordID)
                }
            }
            let (reader, network) = try carol.behindAttacker()
            network.show([forged])
            await expectRefused(.integrityFailure, by: .wrongContext) {
                _ = try await reader.shared.record(for: Record.ID(recordName: name, zoneID: it.joined))
            }
            for lie in [forged, gone, carried, intruding] { try await expectRefusedByTheServer(lie, bob, it.list) }
        }
        #expect(try await ann.body(of: it.entry.recordID) == "secret")
        #expect(try await ann.body(of: it.note.recordID) == "private")
        #expect(try await carol.body(of: Record.ID(recordName: "entry", zoneID: it.joined)) == "secret")
    }

    /// A participant's record in its share, shown under the name of one in the zone, draws nothing into the share.
    @Test func aParentIsWhereItWasSeen() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let it = try await Hierarchies(ann, bob, carol)
        var below = ann.note(in: it.zone, "secret", name: "below")
        below.setParent(it.note)
        below = try await ann.own.save(below)
        let body: [(name: String, field: FieldDraft)] = [("body", .encrypted(.string("Bob's")))]
        var claims: [Sealkit_V1_Record] = []
        for base in [nil, it.note.base] {
            var claim = Forgery.statement(by: bob, it.list, name: "beside", following: base)
            claim.parent = "list"
            claims.append(try Forgery.record(claim, body, by: bob, key: try it.list.currentKey()))
        }
        let own = try await ann.view(of: it.zone)
        for claim in claims {
            // Who has never seen the true one seals for Bob what was secret: that is what seeing it is worth.
            let (novice, open) = try ann.freshBehindAttacker()
            try await lure(novice, open, under: claim, with: below, citing: [it.list, it.diary])
            #expect(
                try sentScopes(open).contains(it.list.scope.id),
                "the lie is good enough for a device that has seen nothing")
            let (reader, network) = try ann.behindAttacker()
            try await lure(reader, network, under: claim, with: below, citing: [it.list, it.diary])
            #expect(try sentScopes(network).subtracting([own.scope.id]).isEmpty)
        }
        #expect(try await ann.own.record(for: below.recordID).base?.statement.scopeID == own.scope.id)
    }

    /// The server says that a record is to follow its parent, and shows the claim as that; then something new is made
    /// below it.
    private func lure(
        _ person: Person, _ network: HostileNetwork, under claim: Sealkit_V1_Record, with below: Record,
        citing views: [ZoneView]
    ) async throws {
        _ = try await person.own.record(for: below.recordID)
        let child = try #require(network.records.last)
        let heads = ([try await person.view(of: below.recordID.zoneID)] + views).map(HostileNetwork.head)
        network.rewrite("shares/unsettled", Sealkit_V1_UnsettledRecordsResponse.self) { answer in
            answer.scopes = heads
            answer.moreComing = false
            answer.records = [
                .with {
                    $0.record = child
                    $0.parent = claim
                }
            ]
        }
        _ = try? await person.own.settleShares(in: below.recordID.zoneID)
        network.show([claim], citing: views)
        var new = person.note(in: below.recordID.zoneID, "new secret")
        new.setParent(Record.ID(recordName: claim.recordName, zoneID: below.recordID.zoneID))
        _ = try? await person.own.save(new)
    }

    /// For which scopes records were signed and sealed.
    private func sentScopes(_ network: HostileNetwork) throws -> Set<Digest> {
        Set(
            try network.sent(to: "records/modify").flatMap {
                try Sealkit_V1_ModifyRecordsRequest(serializedBytes: $0).records
            }
            .map { try Statement(canonicalBytes: [UInt8]($0.statement)).scopeID })
    }

    private func expectRefusedByTheServer(_ wire: Sealkit_V1_Record, _ person: Person, _ view: ZoneView) async throws {
        let request = Sealkit_V1_ModifyRecordsRequest.with {
            $0.operationID = newOperationID()
            $0.zone = view.scope.zoneIDOnWire
            $0.atomic = true
            $0.signature = wire.proof.signature
            $0.records = [
                .with {
                    $0 = wire
                    $0.clearProof()
                    $0.deleted = false
                    $0.changeTag = "1"
                }
            ]
        }
        let response: Sealkit_V1_ModifyRecordsResponse = try await person.container.core.call(
            .shared, Endpoints.records.modify, request)
        guard case .failure? = response.results.first?.outcome else {
            Issue.record("the honest server took it")
            return
        }
    }
}

extension HostileNetwork {
    fileprivate static func head(of view: ZoneView) -> Sealkit_V1_ScopeHead {
        .with {
            $0.zone = view.scope.zoneIDOnWire
            $0.shareRecordName = view.scope.shareRecordName
            $0.sequence = view.roster.sequence
            $0.head = Data(view.roster.head.bytes)
        }
    }

    /// Records of several scopes: the answer says which rosters they go by.
    func show(_ records: [Sealkit_V1_Record], citing views: [ZoneView]) {
        let heads = views.map(HostileNetwork.head)
        show(records)
        rewrite("records/lookup", Sealkit_V1_LookupRecordsResponse.self) { answer in
            answer.scopes = answer.scopes.filter(\.shareRecordName.isEmpty) + heads
        }
    }
}
