import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SealCoding
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealKit
@testable import SealServer
@testable import SealService

/// Somebody with an account and real keys in one container.
struct Person: Sendable {
    var client: TestClient
    let keys: IdentityKeys
    let chain: IdentityChain
    var environment = SealStatements.Environment.development

    var user: UserID { chain.userID }
    var name: String { user.recordName }
    var author: RosterAuthor<XWingHPKE> { RosterAuthor(user: user, keys: keys) }

    static func ready(_ server: RunningServer) async throws -> Person {
        var random = SystemRandom()
        let seed = AccountSeed(random: &random)
        let keys = try seed.identityKeys(container: TestClient.container, using: XWingHPKE.self)
        var client = try TestClient(server)
        client.token = try await client.create().token
        let chain = try keys.firstIdentity(time: 1)
        _ = try await client.register(chain: chain.wire, signer: keys.signingKey)
        return Person(client: client, keys: keys, chain: chain)
    }

    /// Makes this account's user in another container.
    func register(in container: String) async throws {
        var random = SystemRandom()
        let keys = try AccountSeed(random: &random).identityKeys(container: container, using: XWingHPKE.self)
        _ = try await client.register(
            chain: keys.firstIdentity(time: 1).wire, container: container, signer: keys.signingKey)
    }

    /// The same person in production.
    var inProduction: Person {
        var person = self
        person.environment = .production
        return person
    }

    func path(_ call: String, shared: Bool = false) -> String {
        "/database/1/\(TestClient.container)/\(environment.name)/\(shared ? "shared" : "private")/\(call)"
    }

    // MARK: Zones

    func scope(_ zone: String) -> Scope {
        Scope(container: TestClient.container, environment: environment, owner: user, zoneName: zone)
    }

    func opening(
        _ zone: String, following: Roster? = nil, encryption: EncryptionScope = .perRecord
    ) throws -> RosterAuthor<XWingHPKE>.Draft {
        var random = SystemRandom()
        return try author.open(
            scope(zone), following: following, encryptionScope: encryption, identity: chain, time: 1, random: &random)
    }

    func modifyZones(
        saving saves: [(String, RosterAuthor<XWingHPKE>.Draft)] = [],
        deleting deletes: [(String, SignedRosterEntry)] = [],
        operation: [UInt8]? = nil, shared: Bool = false, reason: UInt32 = 0, closing shares: [TestZone] = []
    ) async throws -> [Sealkit_V1_ZoneResult] {
        var request = Sealkit_V1_ModifyZonesRequest()
        request.operationID = Data(operation ?? randomBytes(16))
        for (name, draft) in saves {
            var save = Sealkit_V1_ZoneSave()
            save.zoneID.zoneName = name
            save.open = draft.entry.wire
            if let grant = draft.grants.first { save.grant = grant.wire }
            request.saves.append(save)
        }
        for (name, entry) in deletes {
            var delete = Sealkit_V1_ZoneDelete()
            delete.zoneID.zoneName = name
            delete.close = entry.wire
            delete.reason = reason
            delete.shares = shares.map { closing($0) }
            request.deletes.append(delete)
        }
        return try await client.call(
            path("zones/modify", shared: shared), request, as: Sealkit_V1_ModifyZonesResponse.self
        ).results
    }

    func makeZone(_ name: String = "notes", encryption: EncryptionScope = .perRecord) async throws -> TestZone {
        let draft = try opening(name, encryption: encryption)
        let results = try await modifyZones(saving: [(name, draft)])
        guard case .zone = results.first?.outcome, let key = draft.epochKey else { throw TestFailure("zone not made") }
        return TestZone(name: name, owner: user, roster: try Roster(opening: draft.entry, scope: scope(name)), key: key)
    }

    /// A zone that is shared, with nobody yet.
    func makeSharedZone(_ name: String = "notes") async throws -> TestZone {
        var zone = try await makeZone(name)
        try await append(try next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &zone)
        return zone
    }

    func deleteZone(_ zone: TestZone, reason: UInt32 = 0, closing shares: [TestZone] = []) async throws
        -> Sealkit_V1_ZoneResult
    {
        let draft = author.plain(.close, on: zone.roster, time: 2)
        return try await modifyZones(deleting: [(zone.name, draft.entry)], reason: reason, closing: shares)[0]
    }

    func zoneChanges(_ token: Data = Data(), shared: Bool = false, limit: UInt32 = 0) async throws
        -> Sealkit_V1_DatabaseChangesResponse
    {
        try await client.call(
            path("zones/changes", shared: shared),
            Sealkit_V1_DatabaseChangesRequest.with {
                $0.token = token
                $0.resultsLimit = limit
            }, as: Sealkit_V1_DatabaseChangesResponse.self)
    }

    func zones(_ names: [(zone: String, owner: String)] = [], shared: Bool = false) async throws
        -> [Sealkit_V1_ZoneResult]
    {
        var request = Sealkit_V1_LookupZonesRequest()
        request.zones = names.map { name in
            .with {
                $0.zoneName = name.zone
                $0.ownerName = name.owner
            }
        }
        return try await client.call(
            path("zones/lookup", shared: shared), request, as: Sealkit_V1_LookupZonesResponse.self
        ).results
    }

    // MARK: Rosters

    func fetchRoster(_ zone: TestZone, after: UInt64? = nil) async throws -> Sealkit_V1_RosterTail {
        var wanted = Sealkit_V1_RosterRequest()
        wanted.zone = zone.id(for: self)
        wanted.shareRecordName = zone.roster.scope.shareRecordName
        wanted.fromStart = after == nil
        wanted.after = after ?? 0
        let answer = try await client.call(
            path("rosters/fetch", shared: zone.owner != user),
            Sealkit_V1_FetchRostersRequest.with { $0.rosters = [wanted] },
            as: Sealkit_V1_FetchRostersResponse.self)
        return answer.rosters[0]
    }

    func appendRequest(
        _ draft: RosterAuthor<XWingHPKE>.Draft, to zone: TestZone, links: [Sealkit_V1_Link] = [],
        addresses: [(ID16, String)] = []
    ) -> Sealkit_V1_AppendRosterRequest {
        var request = Sealkit_V1_AppendRosterRequest()
        request.operationID = Data(randomBytes(16))
        request.zone = zone.id(for: self)
        request.shareRecordName = zone.roster.scope.shareRecordName
        request.entry = draft.entry.wire
        request.grants = draft.grants.map(\.wire)
        request.links = links
        request.addresses = addresses.map { address in
            .with {
                $0.invitationID = Data(address.0.bytes)
                $0.address = address.1
            }
        }
        return request
    }

    func send(_ request: Sealkit_V1_AppendRosterRequest, to zone: TestZone) async throws
        -> Sealkit_V1_AppendRosterResponse
    {
        try await client.call(
            path("rosters/append", shared: zone.owner != user), request, as: Sealkit_V1_AppendRosterResponse.self)
    }

    /// Appends, and moves the test's own view of the zone along.
    @discardableResult
    func append(
        _ draft: RosterAuthor<XWingHPKE>.Draft, to zone: inout TestZone, links: [Sealkit_V1_Link] = [],
        addresses: [(ID16, String)] = []
    ) async throws -> Sealkit_V1_AppendRosterResponse {
        let answer = try await send(appendRequest(draft, to: zone, links: links, addresses: addresses), to: zone)
        try zone.roster.append(draft.entry)
        if let key = draft.epochKey { zone.key = key }
        return answer
    }

    func next(
        on zone: TestZone, _ changes: [RosterChange] = [], invitations: [InvitationDraft] = [], rotating: Bool = false
    ) throws -> RosterAuthor<XWingHPKE>.Draft {
        var random = SystemRandom()
        return try author.next(
            on: zone.roster, changes: changes, invitations: invitations, rotating: rotating, current: zone.key, time: 3,
            random: &random)
    }

    /// A rotation with changes that the rules refuse, which no honest author writes.
    func forge(on zone: TestZone, _ changes: [RosterChange]) throws -> RosterAuthor<XWingHPKE>.Draft {
        let honest = try next(on: zone, rotating: true)
        var entry = try RosterEntry(canonicalBytes: honest.entry.bytes, container: TestClient.container)
        entry.changes = changes
        let bytes = entry.canonicalBytes()
        let signature = keys.signingKey.sign(RosterEntry.signedBytes(bytes))
        return .init(
            entry: SignedRosterEntry(bytes: bytes, signature: signature), grants: honest.grants,
            epochKey: honest.epochKey)
    }
}

/// A zone as a test's participant knows it.
struct TestZone: Sendable {
    let name: String
    let owner: UserID
    var roster: Roster
    var key: EpochKey

    func id(for person: Person) -> Sealkit_V1_ZoneID {
        .with {
            $0.zoneName = name
            $0.ownerName = owner == person.user ? "" : owner.recordName
        }
    }
}

extension RosterAuthor.Grant {
    var wire: Sealkit_V1_Grant { Sealkit_V1_Grant(subject: subject, epoch: epoch, sealed: sealed) }
}

func randomBytes(_ count: Int) -> [UInt8] {
    var random = SystemRandom()
    return random.bytes(count)
}
