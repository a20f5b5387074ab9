import SealEnvelope
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

/// Records that would be their own ancestors, and roots with a parent of their own.
extension HierarchicalShareTests {
    @Test func aRootBelowItsOwnChildIsRefusedByName() async throws {
        let it = try await shared()
        for (database, zone) in [(it.ann.own, it.zone), (it.bob.shared, it.joined)] {
            var root = try await database.record(for: Record.ID(recordName: "list", zoneID: zone))
            root.setParent(Record.ID(recordName: "item", zoneID: zone))
            do {
                _ = try await database.save(root)
                Issue.record("it was taken")
            } catch {
                #expect(error.code == .referenceViolation)
                #expect(error.reason.contains("list"))
            }
        }
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let deleted = try await it.ann.own.modifyRecords(saving: [], deleting: [it.item.recordID, it.list.recordID])
        #expect(deleted.deleteResults.values.allSatisfy { $0.failureCode == nil })
        #expect(try await it.ann.container.violations().isEmpty)
    }

    @Test func aRootThatHasAParentElsewhereFollowsItWhenItsShareEnds() async throws {
        let it = try await shared()
        let deep = try await it.ann.own.save(child(of: it.note, it.ann, "deep", name: "deep"))
        var note = try await it.ann.own.record(for: it.note.recordID)
        let share = try await it.ann.own.save(Share(rootRecord: note), rootRecord: note).share
        note = try await it.ann.own.record(for: it.note.recordID)
        note.setParent(it.item)
        note = try await it.ann.own.save(note)
        #expect(note.parent?.recordName == "item")
        // It stays in its own share as long as that lasts: its own parent counts for nothing.
        let hidden = await failure { _ = try await it.bob.shared.record(for: it.id(it.note)) }
        #expect(hidden == .unknownItem)
        try await it.ann.own.deleteRecord(withID: share.recordID)
        try await it.ann.own.settleShares(in: it.zone)
        for (record, body) in [(note, "private"), (deep, "deep")] {
            let read: String? = try await it.bob.shared.record(for: it.id(record)).encryptedValues["body"]
            #expect(read == body)
        }
    }

    /// Where the child belongs shows only once the root is taken for what there is.
    @Test func aRootThatIsSavedAsNewTakesANewChildAlong() async throws {
        let it = try await shared()
        let fresh = try it.ann.onFreshDevice()
        let list = fresh.note(in: it.zone, "new", name: "list")
        let results = try await fresh.own.modifyRecords(
            saving: [list, child(of: list, fresh, "child", name: "child")], savePolicy: .allKeys
        ).saveResults
        #expect(results.values.compactMap(\.failureCode).isEmpty)
        for (name, body) in [("list", "new"), ("child", "child")] {
            let record = try await it.bob.shared.record(for: Record.ID(recordName: name, zoneID: it.joined))
            let read: String? = record.encryptedValues["body"]
            #expect(read == body)
        }
    }

    /// A client that has lost its cache saves without a change tag what there is in a share.
    @Test func aRecordInAShareThatIsSavedAsNewIsJudgedByItsPlace() async throws {
        let it = try await shared()
        for policy in [Database.SavePolicy.ifServerRecordUnchanged, .changedKeys, .allKeys] {
            for person in [try it.ann.onFreshDevice(), try it.bob.onFreshDevice()] {
                let isOwner = person.name == it.ann.name
                let (database, zone) = isOwner ? (person.own, it.zone) : (person.shared, it.joined)
                for name in ["item", "list"] {
                    let body = "\(name) \(policy) \(isOwner)"
                    let new = person.note(in: zone, body, name: name)
                    let result = try await database.modifyRecords(saving: [new], savePolicy: policy).saveResults[
                        new.recordID]
                    let record = try await it.ann.own.record(for: Record.ID(recordName: name, zoneID: it.zone))
                    let read: String? = record.encryptedValues["body"]
                    if policy == .ifServerRecordUnchanged {
                        #expect(result?.failureCode == .serverRecordChanged, "\(body)")
                        guard case .failure(let error)? = result else { continue }
                        let theirs: String? = error.serverRecord?.encryptedValues["body"]
                        #expect(theirs == read)
                    } else {
                        #expect(result?.failureCode == nil, "\(body): \(String(describing: result))")
                        #expect(read == body)
                        #expect(record.parent?.recordName == (name == "item" ? "list" : nil))
                    }
                }
                #expect(try await person.container.violations().isEmpty)
            }
        }
        // What there is not is made nowhere but below the root.
        let fresh = try it.bob.onFreshDevice()
        let loose = await failure { try await fresh.shared.save(fresh.note(in: it.joined, "loose", name: "loose")) }
        #expect(loose == .permissionFailure)
    }
}
