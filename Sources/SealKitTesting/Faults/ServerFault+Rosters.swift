import Foundation
import SealCoding
public import SealKit
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

/// Lies about who is in a zone, and with which keys.
extension ServerFault {
    /// A zone's roster ends an entry earlier than it does. Seen as `rollback` by devices that have seen the last one.
    /// - Parameter zone: with a roster of two entries at least: one that is shared.
    public static func shortenedRoster(of zone: RecordZone.ID) -> ServerFault {
        @Sendable func shortened(_ heads: inout [Sealkit_V1_ScopeHead], _ call: TestNetwork.Call) async throws {
            let log = try await RosterAnswers.log(of: zone, call)
            guard log.count > 1 else { throw RecordAnswers.NothingToShow() }
            for index in heads.indices where heads[index].shareRecordName.isEmpty {
                guard zone.isNamed(by: heads[index].zone, call.path) else { continue }
                heads[index].sequence = UInt64(log.count - 2)
                heads[index].head = Data(RosterEntry.hash(log[log.count - 2].bytes).bytes)
            }
        }
        return all(
            .shortenedRoster,
            [
                rewriting(.shortenedRoster, "records/lookup", Sealkit_V1_LookupRecordsResponse.self) {
                    try await shortened(&$1.scopes, $0)
                },
                rewriting(.shortenedRoster, "records/changes", Sealkit_V1_RecordChangesResponse.self) {
                    try await shortened(&$1.scopes, $0)
                },
                fetching(.shortenedRoster, zone) { _, tail in
                    guard !tail.entries.isEmpty else { return }
                    let last = tail.entries.removeLast()
                    let entry = try RosterEntry(canonicalBytes: [UInt8](last.entry), container: nil)
                    (tail.headSequence, tail.head) = (entry.sequence - 1, Data(entry.previous.bytes))
                },
            ])
    }

    /// A zone's roster goes on with an entry in its owner's name, signed with a key of the server's: it makes another
    /// member an administrator, or blocks somebody where there is none. Seen as `integrityFailure`, and nobody is
    /// shown, or keyed, by it.
    public static func forgedEntry(inRosterOf zone: RecordZone.ID) -> ServerFault {
        fetching(.forgedEntry, zone) { call, tail in
            let roster = try await RosterAnswers.roster(of: zone, call)
            var random = SystemRandom()
            let other = roster.members.keys.filter { $0 != roster.owner }.min()
            let change = other.map { RosterChange.setRole($0, .administrator) }
            let entry = RosterEntry(
                scopeID: roster.scopeID, sequence: roster.nextSequence, previous: roster.head, author: roster.owner,
                time: 0, changes: [change ?? .block(UserID(ID16(random: &random)))], epoch: nil)
            let bytes = entry.canonicalBytes()
            let key = try SigningKey(seed: SecretBytes(random: &random))
            tail.entries.append(
                SignedRosterEntry(bytes: bytes, signature: key.sign(RosterEntry.signedBytes(bytes))).wire)
        }
    }

    /// A zone's roster comes page after page, each with nothing in it. Seen as `serverRejectedRequest`, at the first.
    public static func endlessRoster(of zone: RecordZone.ID) -> ServerFault {
        fetching(.endlessRoster, zone) { _, tail in (tail.entries, tail.moreComing) = ([], true) }
    }

    /// The keys that come with a zone's roster open nothing, or would be the server's. A device that has no other is
    /// refused what it reads (`integrityFailure`) and writes nothing (`permissionFailure`).
    public static func wrongGrants(of zone: RecordZone.ID) -> ServerFault {
        fetching(.wrongGrants, zone) { _, tail in
            var random = SystemRandom()
            for index in tail.grants.indices {
                tail.grants[index].sealed = Data(random.bytes(tail.grants[index].sealed.count))
            }
        }
    }

    /// The next two saves are made, and answered with the news that the zone's key has to be renewed. Nobody gets a key
    /// by it: the save ends with `serverRecordChanged`, and what was saved is found.
    public static var announcedRotation: ServerFault {
        let announced = Mutex(0)
        return ServerFault(.announcedRotation) { call, response in
            guard call.isTo("records/modify") else { return }
            let count = announced.withLock { count in
                count += 1
                return count
            }
            guard count <= 2 else { return }
            response = try .saying(
                Sealkit_V1_Failure(count == 1 ? .rotationDue : .staleEpoch, "Renew the key for everybody."),
                status: 409)
        }
    }

    /// Whoever is looked up has somebody else's keys. Seen as `integrityFailure` where the look-up is by record name;
    /// who is invited by an address then opens nothing.
    /// - Parameter other: whose keys they are.
    public static func exchangedKeys(with other: Record.ID) -> ServerFault {
        rewriting(.exchangedKeys, "directory/lookup", Sealkit_V1_LookupIdentitiesResponse.self) { call, answer in
            let asked = try Sealkit_V1_LookupIdentitiesRequest(serializedBytes: call.body)
            let request = Sealkit_V1_LookupIdentitiesRequest.with {
                $0.container = asked.container
                $0.handles = [.with { $0.userRecordName = other.recordName }]
            }
            let response = try await call.server.post(
                call.path, body: try request.serializedData(), token: call.token)
            guard response.status < 400 else { throw response.failure }
            let found = try Sealkit_V1_LookupIdentitiesResponse(serializedBytes: response.body)
            guard let chain = found.results.first?.chain else { throw RecordAnswers.NothingToShow() }
            for index in answer.results.indices { answer.results[index].chain = chain }
        }
    }

    /// Whoever is looked up has a key that gives away what is sealed to it, in an identity that holds otherwise. Seen
    /// as `integrityFailure`.
    public static let weakKeys = rewriting(
        .weakKeys, "directory/lookup", Sealkit_V1_LookupIdentitiesResponse.self
    ) { call, answer in
        let container = try Sealkit_V1_LookupIdentitiesRequest(serializedBytes: call.body).container
        for index in answer.results.indices {
            guard let real = answer.results[index].chain.identities.last else { continue }
            var random = SystemRandom()
            let key = try SigningKey(seed: SecretBytes(random: &random))
            let known = try Identity(canonicalBytes: [UInt8](real.statement))
            // A point of order 1, in the place of the half that is a point.
            let weak = Identity(
                container: container, generation: 0, signingKey: key.verificationKey,
                grantKey: Array(known.grantKey.dropLast(32)) + [UInt8](repeating: 0, count: 32), time: 1,
                previous: .zero)
            let bytes = weak.canonicalBytes()
            answer.results[index].chain.identities = [
                .with {
                    $0.statement = Data(bytes)
                    $0.signature = Data(key.sign(Identity.signedBytes(bytes)))
                }
            ]
        }
    }

    private static func fetching(
        _ kind: Kind, _ zone: RecordZone.ID,
        _ change: @escaping @Sendable (TestNetwork.Call, inout Sealkit_V1_RosterTail) async throws -> Void
    ) -> ServerFault {
        rewriting(kind, "rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { call, answer in
            let asked = try Sealkit_V1_FetchRostersRequest(serializedBytes: call.body).rosters
            for index in answer.rosters.indices where index < asked.count && !answer.rosters[index].hasFailure {
                guard zone.isNamed(by: asked[index].zone, call.path), asked[index].shareRecordName.isEmpty else {
                    continue
                }
                try await change(call, &answer.rosters[index])
            }
        }
    }
}
