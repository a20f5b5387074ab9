import Foundation
import SealStatements
import Testing

@testable import SealKit

/// A hierarchy that is shared by itself has keys of its own, which are renewed, used up and audited like a zone's.
extension HierarchicalShareTests {
    @Test func aSharedHierarchysKeysAreRenewedAndSealedUnderByThemselves() async throws {
        let it = try await shared()
        let name = it.share.recordID.recordName
        #expect(await failure { try await it.bob.shared.rotateKeys(of: it.joined, shareRecordName: name) } == .permissionFailure)
        #expect(await failure { try await it.ann.own.rotateKeys(of: it.zone, shareRecordName: "none") } == .unknownItem)
        try await it.ann.own.rotateKeys(of: it.zone, shareRecordName: name)
        var status = try await it.ann.own.keyStatus(of: it.zone, shareRecordName: name)
        #expect(status.newestEpoch == 1 && status.oldestEpochInUse == 0)
        // The list, the item, and the share's own record.
        #expect(status.staleRecordCount == 3)
        // The zone's own key is another one.
        let own = try await it.ann.own.keyStatus(of: it.zone)
        #expect(own.newestEpoch == 0 && own.staleRecordCount == 0)
        // Bob, who may write in it, seals again what is his to write.
        let bobs = try await it.bob.shared.rekey(it.joined)
        #expect(bobs.rekeyed == 2 && bobs.failures.values.map(\.code) == [.permissionFailure])
        #expect(try await it.ann.own.rekey(it.zone).rekeyed == 1)
        status = try await it.ann.own.keyStatus(of: it.zone, shareRecordName: name)
        #expect(status.oldestEpochInUse == 1 && status.staleRecordCount == 0)
        let found = try await it.bob.onFreshDevice().shared.record(for: it.id(it.item))
        #expect(found.encryptedValues["body"] == "item" && found.base?.statement.epoch == 1)

        let audit = try await it.ann.container.audit()
        #expect(audit.outcome == .clean && audit.scopes.map(\.shareRecordName) == [nil, name])
        // The fresh device above is one that this one had not seen.
        try await it.bob.account.acknowledge(try await it.bob.account.devices())
        let bobsAudit = try await it.bob.container.audit()
        #expect(bobsAudit.outcome == .clean && bobsAudit.scopes.map(\.shareRecordName) == [name], "\(bobsAudit.failures)")
    }
}
