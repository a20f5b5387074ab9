import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// A zone of one person's that others have joined.
struct SharedZone {
    let owner: Person
    let zoneID: RecordZone.ID
    let url: String

    init(of owner: Person, with members: [(Person, Share.Participant.Permission)] = []) async throws {
        self.owner = owner
        zoneID = try await owner.makeZone()
        var share = Share(recordZoneID: zoneID)
        for (person, permission) in members {
            share.addParticipant(
                try await owner.container.shareParticipant(
                    forUserRecordID: try person.container.userRecordID(), permission: permission))
        }
        url = try #require(try await owner.own.save(share).url)
        for (person, _) in members { try await join(person) }
    }

    func join(_ person: Person) async throws {
        try await person.container.accept(try await person.container.shareMetadata(for: url))
    }

    /// As this person names it.
    func id(for person: Person) -> RecordZone.ID {
        person.name == owner.name ? zoneID : RecordZone.ID(zoneName: zoneID.zoneName, ownerName: owner.name)
    }

    func recordID(_ name: String, for person: Person) -> Record.ID {
        Record.ID(recordName: name, zoneID: id(for: person))
    }

    func database(of person: Person) -> Database { person.name == owner.name ? person.own : person.shared }

    func remove(_ person: Person) async throws {
        var share = try await owner.own.share(for: zoneID)
        share.removeParticipant(
            try #require(share.participants.first { $0.userIdentity.userRecordID?.recordName == person.name }))
        try await owner.own.save(share)
    }

    /// The roster and keys that this person's device has, fetched anew.
    @discardableResult
    func view(of person: Person) async throws -> ZoneView {
        try await person.container.core.keeper(of: person.container.core.scope(of: id(for: person))).refresh()
    }

    /// The records as the server has them, read by a device of the owner's.
    func stored(_ names: [String]) async throws -> [Sealkit_V1_Record] {
        let recording = RecordingTransport(try HTTPTransport(server: owner.server.origin))
        let device = try owner.onFreshDevice(transport: recording)
        _ = try await device.own.fetchingAssets(.onDemand).records(for: names.map { recordID($0, for: owner) })
        return recording.records()
    }

    /// Puts new keys of a member's into the roster, as its own device would.
    /// - Returns: its chain from now on.
    @discardableResult
    func changeKeys(of person: Person) async throws -> IdentityChain {
        let core = person.container.core
        let view = try await view(of: person)
        var random = SystemRandom()
        let keys = try AccountSeed(random: &random).identityKeys(container: core.identifier, using: XWingHPKE.self)
        let chain = try keys.nextIdentity(after: core.identity().chain, signedBy: core.identity().keys, time: 1)
        let draft = core.author.plain(.identity([chain.signed[1]]), on: view.roster, time: 1)
        try await database(of: person).append(draft, view: view)
        return chain
    }
}

/// Passes everything on, and counts the codes of the refusals that came back.
final class RefusalCounter: @unchecked Sendable {
    // Unchecked: behind its lock.
    private let lock = NSLock()
    private var codes: [String] = []

    func note(_ body: Data) {
        guard let failure = try? Sealkit_V1_Failure(serializedBytes: body),
            SealKitError.Code.known.contains(failure.code)
        else { return }
        lock.withLock { codes.append(failure.code) }
    }

    func count(of code: SealKitError.Code) -> Int { lock.withLock { codes.count { $0 == code.rawValue } } }

    /// The same device, watched.
    func watching(_ person: Person) throws -> Person {
        try person.through(
            RewritingTransport(HTTPTransport(server: person.server.origin)) { [self] _, body in
                note(body)
                return body
            })
    }
}

extension SealKitError.Code {
    fileprivate static let known = Set(ErrorCode.allCases.map(\.rawValue))
}
