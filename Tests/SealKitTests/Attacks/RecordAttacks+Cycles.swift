import SealClient
import SealCoding
import SealEnvelope
import SealKitTesting
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

extension RecordAttacks {
    @Test(
        "Records that are their own ancestors: refused by an honest server; shown by another, noted, and no walk is endless."
    )
    func attack68_recordsThatAreTheirOwnAncestors() async throws {
        let world = try await AttackedZone()
        let (ann, bob) = (world.ann, world.bob)
        let view = try await world.view(bob)
        let key = try view.currentKey()
        func below(_ parent: String, _ name: String) throws -> Sealkit_V1_Record {
            var statement = Forgery.statement(by: bob, view, name: name)
            statement.parent = parent
            return try Forgery.record(statement, [("body", .encrypted(.string(name)))], by: bob, key: key)
        }
        let circle = [try below("c", "a"), try below("a", "b"), try below("b", "c")]
        let (reader, network) = try ann.freshBehindAttacker()
        network.show(circle)
        let zone = world.note.recordID.zoneID
        let changes = try await reader.own.recordZoneChanges(inZoneWith: zone)
        #expect(Set(changes.modifications.map(\.recordID.recordName)) == ["a", "b", "c"])
        for (id, result) in changes.modifications {
            let body: String? = try result.get().encryptedValues["body"]
            #expect(body == id.recordName)
        }
        let found = try await reader.container.violations()
        #expect(found.map(\.recordName) == ["a"])
        #expect(found.map(\.code) == [.integrityFailure])
        #expect(found[0].zoneID == zone && found[0].reason.contains("a, c, b"))
        // Whoever was shown them deletes them or ends the circle; that there are no such records the honest server can
        // show by nothing.
        network.beHonest()
        var one = try #require(try changes.modifications.first?.result.get())
        one.parent = nil
        let saved = try await reader.own.modifyRecords(saving: [one]).saveResults[one.recordID]
        #expect(saved?.failureCode == .rollback)

        // Nor does the honest server take a circle from a client without scruples, who signs whatever it likes.
        let drafts = ["a", "b", "c"].map { name in
            var record = ann.note(in: zone, name, name: name)
            record.setParent(Record.ID(recordName: ["a": "c", "b": "a", "c": "b"][name] ?? "", zoneID: zone))
            return record
        }
        let fresh = try ann.onFreshDevice()
        let refused = try await fresh.own.modifyRecords(saving: drafts).saveResults
        for draft in drafts {
            guard case .failure(let error)? = refused[draft.recordID] else {
                Issue.record("the honest server took \(draft.recordID.recordName)")
                continue
            }
            expectRefused(error, .referenceViolation)
        }
    }
}
