import Foundation
import SealClient
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// The scopes of a zone, as this account sees it: of its own zones all that is cited, of others' the zone as a whole or
/// the hierarchical shares that it takes part in. What the server says of them is where to look; the rosters say what
/// is.
extension Database {
    /// What is known of a zone before it is asked about.
    /// - Parameter asked: the moment at which the server was asked, where that was before.
    /// - Throws: `zoneNotFound`.
    func zoneGround(_ zoneID: RecordZone.ID, asked: Int64? = nil) async throws(SealKitError) -> ZoneGround {
        let zone = try zoneScope(zoneID)
        let own = core.keeper(of: zone)
        let shares = try await scope == .private ? [] : core.trust.shares(of: zone.id).map { zone.ofShare($0) }
        let known = try await core.trust.standing(of: [zone.id] + shares.map(\.id))
        var ground = ZoneGround(zone: zone, asked: asked ?? known.moment)
        if scope == .private {
            ground.add(try await own.current(knownTo: known.ends[0]))
            return ground
        }
        for (share, end) in zip(shares, known.ends.dropFirst()) {
            // What this account has left, or what has ended, is none of the zone any more.
            let view = try await core.keeper(of: share).current(knownTo: end)
            if view.isMember { ground.add(view) }
        }
        guard ground.views.isEmpty else {
            // The zone may be shared as a whole since, and this device have joined that: the answer says which holds.
            if let view = await own.view, view.isMember { ground.add(view) }
            return ground
        }
        let whole: ZoneView
        do throws(SealKitError) {
            whole = try await own.current(knownTo: known.ends[0])
        } catch let error where error.code == .zoneNotFound {
            try await discoverShares(of: zone, into: &ground)
            if ground.views.isEmpty { throw error }
            return ground
        }
        // This account once took part in the whole zone; it may in shares now.
        if !whole.isMember { try await discoverShares(of: zone, into: &ground) }
        if ground.views.isEmpty { ground.add(whole) }
        return ground
    }

    /// The hierarchical shares that the server names, as far as their rosters show this account in them.
    func discoverShares(of zone: SealStatements.Scope, into ground: inout ZoneGround) async throws(SealKitError) {
        var named = NameListing()
        while named.isMoreComing {
            let heads: [Sealkit_V1_ScopeHead]
            do throws(SealKitError) { heads = try await more(&named, in: zone) } catch
                where error.code == .zoneNotFound
            { return }
            for head in heads {
                let view = try await core.keeper(of: zone.ofShare(head.shareRecordName)).refresh()
                if view.isMember { ground.add(view) }
            }
        }
    }

    /// The zone's scopes anew, where this account takes no part any more in one that the device goes by: another device
    /// has left it, or its owner has ended that.
    /// - Returns: nil where it takes part in all of them still.
    /// - Throws: `zoneNotFound` where nothing of the zone is shared any more.
    func regrounded(_ ground: ZoneGround, _ zoneID: RecordZone.ID) async throws(SealKitError) -> ZoneGround? {
        guard scope == .shared else { return nil }
        var isOut = false
        for view in ground.views.values where !isOut {
            // The batch may have found that out itself.
            isOut = if view.isMember { try await !core.keeper(of: view.scope).refresh().isMember } else { true }
        }
        guard isOut else { return nil }
        var shares = ZoneGround(zone: ground.zone, asked: ground.asked)
        try await discoverShares(of: ground.zone, into: &shares)
        var now = shares
        if shares.views.isEmpty {
            // What this device takes itself to be in still may have ended as well, and the zone be shared as a whole.
            for share in try await core.trust.shares(of: ground.zone.id) {
                let keeper = core.keeper(of: ground.zone.ofShare(share))
                if try await keeper.current().isMember { _ = try await keeper.refresh() }
            }
            now = try await zoneGround(zoneID)
        }
        if let own = now.own, !own.isMember { now.add(try await core.keeper(of: own.scope).refresh()) }
        guard now.views.values.contains(where: \.isMember) else { throw Database.notInZone(zoneID) }
        return now
    }

    /// This account has left the zone, or was put out.
    static func notInZone(_ zoneID: RecordZone.ID) -> SealKitError {
        SealKitError(.zoneNotFound, "there is no zone \(zoneID) for this account")
    }

    /// The hierarchical shares that are open in a zone of one's own.
    func openShares(in zone: SealStatements.Scope) async throws(SealKitError) -> [ZoneView] {
        var views: [ZoneView] = []
        var named = NameListing()
        while named.isMoreComing {
            for head in try await more(&named, in: zone) {
                let keeper = core.keeper(of: zone.ofShare(head.shareRecordName))
                var view = try await keeper.current(citedBy: [head], asked: 0)
                // What would be appended follows what this device knows: a server that has lost that is given it back.
                if head.sequence < view.roster.sequence { view = try await keeper.refresh() }
                if view.isMember { views.append(view) }
            }
        }
        return views
    }

    /// The next hierarchical shares in a zone that the server names to this account, each once. Their rosters are read
    /// before more is asked for: of those that it makes up there is none.
    private func more(_ named: inout NameListing, in zone: SealStatements.Scope) async throws(SealKitError)
        -> [Sealkit_V1_ScopeHead]
    {
        let request = Sealkit_V1_LookupSharesRequest.with {
            $0.zone = zone.zoneIDOnWire
            $0.after = named.last
        }
        let response: Sealkit_V1_LookupSharesResponse = try await core.call(
            scope, Endpoints.sharing.lookupShares, request)
        var names: [String] = []
        for share in response.shares { names.append(try shareName(share.scope)) }
        do throws(ClientError) { try named.take(names, isMoreComing: response.moreComing) } catch { throw .circle }
        return response.shares.map(\.scope)
    }

    func shareName(_ head: Sealkit_V1_ScopeHead) throws(SealKitError) -> String {
        guard Names.isPlain(head.shareRecordName) else {
            throw SealKitError(.serverRejectedRequest, "the server names a share that cannot be one")
        }
        return head.shareRecordName
    }

    /// How far the rosters of the shares of a zone of one's own have come, where a reading of its feed that has nothing
    /// more coming would raise a mark.
    func marks(ofSharesIn zone: SealStatements.Scope) async throws(SealKitError) -> [ScopePlace: Int64] {
        let (marks, unmarked) = try await core.trust.marks(ofSharesIn: zone.id)
        guard !unmarked.isEmpty else { return marks }
        for share in unmarked { try await core.keeper(of: zone.ofShare(share)).noteMarks() }
        return try await core.trust.marks(ofSharesIn: zone.id).due
    }

    /// The share's roster, as its owner or participant has it.
    func keeper(ofShare share: Record.ID) throws(SealKitError) -> ZoneKeeper {
        core.keeper(of: try zoneScope(share.zoneID).ofShare(share.recordName))
    }
}

extension ZoneGround {
    /// As an answer cites it: each roster at least as far as the answer goes by it.
    /// - Throws: `integrityFailure` when a scope that is known is not cited, or one is twice; `rollback` when one is
    ///   older than it was, or another.
    func settled(by heads: [Sealkit_V1_ScopeHead], _ core: ContainerCore) async throws(SealKitError) -> ZoneGround {
        var settled = ZoneGround(zone: zone, asked: asked)
        settled.marksWhenAsked = marksWhenAsked
        let isOwners = zone.owner == core.userID()
        for view in views.values {
            let isCited = heads.contains { $0.isOf(view.scope) }
            let keeper = core.keeper(of: view.scope)
            // To its owner an answer names the shares that its records are in.
            if !isCited, isOwners, !view.scope.shareRecordName.isEmpty {
                settled.add(view)
                continue
            }
            if !isCited, !isOwners, try await !keeper.refresh().isMember { continue }
            settled.add(try await keeper.current(citedBy: heads, asked: view.roster.sequence))
        }
        for head in heads {
            // Also the zone's own: to somebody who took part in shares, as far as this device knew.
            let isWhole = head.shareRecordName.isEmpty
            let scope = isWhole ? zone : zone.ofShare(head.shareRecordName)
            guard isWhole || Names.isPlain(head.shareRecordName), head.isOf(scope), settled[scope.id] == nil
            else { continue }
            let view = try await core.keeper(of: scope).current(citedBy: heads, asked: 0)
            if isOwners || view.isMember { settled.add(view) }
        }
        // Nothing that it could be judged by: it does not say what it should have.
        if settled.views.isEmpty, let view = views.values.first {
            settled.add(try await core.keeper(of: view.scope).current(citedBy: heads, asked: view.roster.sequence))
        }
        return settled
    }
}

extension Sealkit_V1_ScopeHead {
    init(_ head: Wire.ScopeHead) {
        self.init()
        zone.zoneName = head.zone?.zoneName ?? ""
        zone.ownerName = head.zone?.ownerName ?? ""
        shareRecordName = head.shareRecordName
        sequence = head.sequence
        self.head = Data(head.head)
    }

    func isOf(_ scope: SealStatements.Scope) -> Bool {
        shareRecordName == scope.shareRecordName && zone.zoneName == scope.zoneName
            && zone.ownerName == scope.owner.recordName
    }
}
