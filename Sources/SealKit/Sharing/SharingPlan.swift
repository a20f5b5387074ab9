import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// The hierarchical shares that begin and end with one save, in the same transaction.
struct SharingPlan: Sendable {
    struct Opening: Sendable {
        let scope: SealStatements.Scope
        let rootName: String
        let share: Share
        let draft: RosterAuthor<XWingHPKE>.Draft
        /// The scope as the records of the batch find it.
        let view: ZoneView
        /// The entry after it: URL, public permission and first invitations. The share is there with them, or not at
        /// all.
        let following: ShareEntry<XWingHPKE>?
    }

    struct Closing: Sendable {
        let scope: SealStatements.Scope
        let draft: RosterAuthor<XWingHPKE>.Draft
    }

    private(set) var openings: [Opening] = []
    private(set) var closings: [Closing] = []
    /// Where records go that do not stay where their parents say: shares' records and roots.
    private(set) var targets: [String: Digest] = [:]

    var isEmpty: Bool { openings.isEmpty && closings.isEmpty }

    func closes(_ share: String) -> Bool { closings.contains { $0.scope.shareRecordName == share } }

    func opens(_ scopeID: Digest) -> Bool { openings.contains { $0.view.roster.scopeID == scopeID } }

    /// Plans a share of `root`, whose record is saved in the same batch, as the root itself is.
    /// - Throws: `alreadyShared` where there is a share of that name.
    mutating func open(
        _ share: Share, root: Record.ID, _ database: Database, _ ground: inout ZoneGround
    ) async throws(SealKitError) {
        let scope = ground.zone.ofShare(share.recordID.recordName)
        let opening = try await SharingPlan.opening(share, scope, rootName: root.recordName, database, ground)
        openings.append(opening)
        targets[share.recordID.recordName] = opening.view.roster.scopeID
        targets[root.recordName] = opening.view.roster.scopeID
        ground.add(opening.view)
    }

    private static func opening(
        _ share: Share, _ scope: SealStatements.Scope, rootName: String, _ database: Database, _ ground: ZoneGround
    ) async throws(SealKitError) -> Opening {
        let keeper = database.core.keeper(of: scope)
        var known = try await keeper.known()
        do throws(SealKitError) {
            known = try await keeper.refresh().roster
        } catch let error where error.code == .unknownItem || error.code == .zoneNotFound {}
        var random = SystemRandom()
        let beginning = try editing(ground.own) { [known] () throws(ShareEditRefusal) in
            try ShareBeginning<XWingHPKE>(
                scope, rootRecordName: rootName, following: known, in: ground.own, as: database.core.identity(),
                time: currentTime(), random: &random)
        }
        let editor = database.editor(of: share, in: beginning.view, links: ShareLinks())
        let following = try editing(beginning.view) { () throws(ShareEditRefusal) in
            try editor.firstEntry(random: &random)
        }
        return Opening(
            scope: scope, rootName: rootName, share: share, draft: beginning.draft, view: beginning.view,
            following: following)
    }

    /// Plans a share's end: its record goes in the same batch; where the root stays, it comes into the zone's own
    /// scope.
    mutating func close(_ view: ZoneView, movingRoot root: String?, _ database: Database, _ ground: ZoneGround) {
        let draft = database.core.author(on: view.roster).plain(.close, on: view.roster, time: currentTime())
        closings.append(Closing(scope: view.scope, draft: draft))
        if let root { targets[root] = ground.zone.id }
    }

    /// On the rosters as they are now.
    mutating func renew(_ database: Database, _ ground: inout ZoneGround) async throws(SealKitError) {
        var opened: [Opening] = []
        for opening in openings {
            let renewed = try await SharingPlan.opening(
                opening.share, opening.scope, rootName: opening.rootName, database, ground)
            ground.add(renewed.view)
            opened.append(renewed)
        }
        openings = opened
        var closed: [Closing] = []
        for closing in closings {
            let view = try await database.core.keeper(of: closing.scope).refresh()
            guard !view.roster.isClosed else {
                throw SealKitError(
                    .unknownItem, "the share \(closing.scope.shareRecordName) has ended already",
                    remedy: "fetch what has changed")
            }
            closed.append(
                Closing(
                    scope: closing.scope,
                    draft: database.core.author(on: view.roster).plain(.close, on: view.roster, time: currentTime())))
        }
        closings = closed
    }

    /// After the save was acknowledged: what was sent is what the logs hold.
    func adopt(_ core: ContainerCore) async throws(SealKitError) {
        for opening in openings {
            let keeper = core.keeper(of: opening.scope)
            _ = try await keeper.adopt(opening.draft)
            if let following = opening.following { _ = try await keeper.adopt(following.draft) }
        }
        for closing in closings { _ = try await core.keeper(of: closing.scope).adopt(closing.draft) }
    }

    var openingsOnWire: [Sealkit_V1_ShareOpening] {
        openings.map { opening in
            .with {
                $0.shareRecordName = opening.scope.shareRecordName
                $0.open = opening.draft.entry.wire
                if let grant = opening.draft.grants.first {
                    $0.grant = grant.wire
                }
                if let following = opening.following { $0.following = following.onWire }
            }
        }
    }

    var closingsOnWire: [Sealkit_V1_ShareClosing] { closings.map { .init($0.scope, $0.draft) } }
}

extension Sealkit_V1_ShareClosing {
    init(_ scope: SealStatements.Scope, _ draft: RosterAuthor<XWingHPKE>.Draft) {
        self = .with {
            $0.shareRecordName = scope.shareRecordName
            $0.close = draft.entry.wire
        }
    }
}
