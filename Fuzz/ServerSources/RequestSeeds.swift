import SealCoding
import SealPrimitives
import SealWire
import SwiftProtobuf

import struct Foundation.Data

@testable import SealEnvelope
@testable import SealStatements

/// Requests as an honest client sends them, in both encodings: where the fuzzer begins.
enum RequestSeeds {
    private static let operation = Data(repeating: 9, count: 16)
    private static let key = Data(World.people[0].signingKey.verificationKey.bytes)
    private static let zoneID = Sealkit_V1_ZoneID.with { $0.zoneName = World.scope.zoneName }

    static var all: [Seed] {
        let world = RequestWorld.shared
        let messages = certain("seeds") { try Self.messages(world) }
        require(messages.keys.allSatisfy { name in world.routes.contains { $0.name == name } }, "a seed is of no route")
        var seeds: [Seed] = []
        for (index, route) in world.routes.enumerated() {
            let number = UInt8(truncatingIfNeeded: index)
            seeds.append(.made([number, 0]))
            for message in messages[route.name] ?? [] {
                certain("a seed") {
                    seeds.append(.made([number, 0] + (try message.serializedBytes() as [UInt8])))
                    seeds.append(.made([number, 3] + (try message.jsonUTF8Bytes() as [UInt8])))
                }
            }
            if route.template.contains("{zone}") {
                seeds.append(
                    .made(
                        [number, 16]
                            + Array("a\ndevelopment\nprivate\n-\nNotes\n0123456789abcdef0123456789abcdef\nbytes".utf8)))
            }
        }
        return seeds
    }

    static func opening(_ draft: RosterAuthor<StandInHPKE>.Draft) -> Sealkit_V1_ModifyZonesRequest {
        .with { request in
            request.operationID = operation
            request.saves = [
                .with { save in
                    save.zoneID = zoneID
                    save.open = draft.entry.wire
                    if let grant = draft.grants.first { save.grant = wire(grant) }
                }
            ]
        }
    }

    private static func wire(_ grant: RosterAuthor<StandInHPKE>.Grant) -> Sealkit_V1_Grant {
        Sealkit_V1_Grant(subject: grant.subject, epoch: grant.epoch, sealed: grant.sealed)
    }

    /// By the routes' names.
    private static func messages(_ world: RequestWorld) throws -> [String: [any Message]] {
        var random = FixedRandom()
        let (owner, zone) = (world.owner, world.zone)
        let next = try owner.author.next(
            on: zone, changes: [], settings: SettingsDraft(secret: World.link), rotating: true, current: world.zoneKey,
            time: 2,
            random: &random)
        let close = owner.author.plain(.close, on: zone, time: 2)
        return [
            "accounts/challenge": [Sealkit_V1_ChallengeRequest.with { $0.loginKey = key }],
            "accounts/login": [
                Sealkit_V1_LoginRequest.with {
                    ($0.loginKey, $0.challenge, $0.signature) = (key, Data(count: 64), Data(count: 64))
                    ($0.time, $0.deviceName) = (1, "device")
                    ($0.deviceID, $0.deviceAdded, $0.deviceSignature) = (operation, 1, Data(count: 64))
                }
            ],
            "accounts/create": [
                Sealkit_V1_CreateAccountRequest.with {
                    $0.loginKey = key
                    $0.recovery.recoveryID = operation
                    $0.recovery.sealed = Data([1])
                }
            ],
            "devices/list": [Sealkit_V1_ListDevicesRequest()],
            "devices/name": [
                Sealkit_V1_NameDeviceRequest.with {
                    ($0.id, $0.name, $0.added, $0.signature) = (operation, "device", 1, Data(count: 64))
                }
            ],
            "devices/revoke": [Sealkit_V1_RevokeDeviceRequest.with { $0.id = operation }],
            "devices/enrol/open": [
                Sealkit_V1_OpenEnrolmentRequest.with { ($0.enrolmentID, $0.commitment) = (operation, Data(count: 32)) }
            ],
            "devices/enrol/claim": [Sealkit_V1_ClaimEnrolmentRequest.with { $0.enrolmentID = operation }],
            "devices/enrol/answer": [
                Sealkit_V1_AnswerEnrolmentRequest.with {
                    ($0.enrolmentID, $0.answer, $0.loginKey) = (operation, Data(count: 32), key)
                }
            ],
            "devices/enrol/reveal": [
                Sealkit_V1_RevealEnrolmentRequest.with {
                    ($0.enrolmentID, $0.ticket) = (operation, Data(count: 32))
                    ($0.grantKey, $0.nonce) = (Data(count: 1_216), Data(count: 32))
                }
            ],
            "devices/enrol/deliver": [
                Sealkit_V1_DeliverEnrolmentRequest.with { ($0.enrolmentID, $0.sealed) = (operation, Data([1])) }
            ],
            "devices/enrol/state": [Sealkit_V1_EnrolmentStateRequest.with { $0.enrolmentID = operation }],
            "devices/enrol/end": [
                Sealkit_V1_EndEnrolmentRequest.with { ($0.enrolmentID, $0.ticket) = (operation, Data(count: 32)) }
            ],
            "accounts/recover": [Sealkit_V1_RecoverRequest.with { $0.recoveryID = operation }],
            "accounts/recovery": [
                Sealkit_V1_RecoveryBundle.with {
                    $0.recoveryID = operation
                    $0.sealed = Data([1])
                }
            ],
            "accounts/identity": [
                Sealkit_V1_RegisterIdentityRequest.with {
                    $0.container = World.container
                    $0.chain = owner.chain.wire
                    $0.loginBinding = Data(
                        owner.signingKey.sign(
                            Challenges.loginBinding(
                                container: World.container, loginKey: owner.signingKey.verificationKey)))
                }
            ],
            "directory/lookup": [
                Sealkit_V1_LookupIdentitiesRequest.with {
                    $0.container = World.container
                    $0.handles = [
                        .with { $0.email = "a@example.org" }, .with { $0.phone = "+4930123456" },
                        .with { $0.userRecordName = owner.userID.recordName },
                    ]
                }
            ],
            "verification/begin": [
                Sealkit_V1_BeginVerificationRequest.with {
                    ($0.container, $0.address) = (World.container, "a@example.org")
                }
            ],
            "verification/complete": [
                Sealkit_V1_CompleteVerificationRequest.with {
                    ($0.verificationID, $0.address, $0.code) = (operation, "a@example.org", "12345678")
                }
            ],
            "share/place": [Sealkit_V1_SharePlaceRequest.with { $0.routingID = operation }],
            "share/metadata": [Sealkit_V1_ShareMetadataRequest.with { $0.routingID = operation }],
            "share/newcomer": [Sealkit_V1_ShareMetadataRequest.with { $0.routingID = operation }],
            "share/accept": [
                Sealkit_V1_AcceptShareRequest.with {
                    ($0.operationID, $0.routingID, $0.entry) = (operation, operation, next.entry.wire)
                }
            ],
            "rosters/fetch": [
                Sealkit_V1_FetchRostersRequest.with {
                    $0.rosters = [
                        .with { roster in
                            roster.zone = zoneID
                            roster.fromStart = true
                        }
                    ]
                }
            ],
            "rosters/append": [
                Sealkit_V1_AppendRosterRequest.with {
                    ($0.operationID, $0.zone, $0.entry) = (Data(repeating: 8, count: 16), zoneID, next.entry.wire)
                    $0.grants = next.grants.map(wire)
                    $0.links = [.with { $0.routingID = operation }]
                }
            ],
            "links/fetch": [Sealkit_V1_LinksRequest.with { $0.zone = zoneID }],
            "zones/modify": [
                Sealkit_V1_ModifyZonesRequest.with {
                    $0.operationID = Data(repeating: 7, count: 16)
                    $0.deletes = [
                        .with { delete in
                            delete.zoneID = zoneID
                            delete.close = close.entry.wire
                        }
                    ]
                }
            ],
            "zones/lookup": [Sealkit_V1_LookupZonesRequest.with { $0.zones = [zoneID] }],
            "zones/changes": [Sealkit_V1_DatabaseChangesRequest.with { $0.resultsLimit = 10 }],
            "records/modify": [try save(world)],
            "records/lookup": [
                Sealkit_V1_LookupRecordsRequest.with {
                    ($0.zone, $0.recordNames) = (zoneID, ["a", "b"])
                    $0.desiredKeys.names = ["title"]
                }
            ],
            "changes/zone": [Sealkit_V1_ZonesRecordChangesRequest.with { $0.zones = [.with { $0.zone = zoneID }] }],
            "records/query": [
                Sealkit_V1_QueryRecordsRequest.with {
                    $0.query.recordType = "Note"
                    $0.query.filterBy = [
                        .with { ($0.fieldName, $0.comparator, $0.values) = ("b", .equals, [.with { $0.int64 = 1 }]) }
                    ]
                    $0.query.sortBy = [.with { $0.fieldName = "creationDate" }]
                }
            ],
            "subscriptions/modify": [
                Sealkit_V1_ModifySubscriptionsRequest.with {
                    $0.operationID = Data(repeating: 5, count: 16)
                    $0.saves = [.with { ($0.subscriptionID, $0.kind, $0.zone) = ("s", 2, zoneID) }]
                    $0.deletes = ["t"]
                }
            ],
            "subscriptions/lookup": [Sealkit_V1_LookupSubscriptionsRequest.with { $0.subscriptionIds = ["s"] }],
            "records/created": [Sealkit_V1_CreatedRecordsRequest.with { ($0.after, $0.resultsLimit) = ("a", 10) }],
            "records/changes": [Sealkit_V1_RecordChangesRequest.with { ($0.zone, $0.resultsLimit) = (zoneID, 10) }],
        ]
    }

    /// A save that the server takes: two records of every kind of plain value, and one that is sealed.
    private static func save(_ world: RequestWorld) throws -> Sealkit_V1_ModifyRecordsRequest {
        var random = FixedRandom()
        let values: [(name: String, field: FieldDraft)] = [
            ("a", .plain(.string("text"))), ("b", .plain(.int64(1))), ("c", .plain(.double(0.5))),
            ("d", .plain(.data([1, 2]))),
            ("e", .plain(.list([.string("x")]))), ("f", .encrypted(.string("sealed"))),
            ("g", .plain(.date(0.1))), ("h", .plain(.list([]))),
        ]
        let drafts = ["Note-1", "Note-2"].map { name in
            var statement = Record.statement(world.zone, by: world.owner.userID)
            (statement.recordName, statement.wrappedKey) = (name, [])
            return RecordDraft(statement: statement, recordKey: nil, fields: values)
        }
        let (sealed, signature) = try RecordSealer.seal(
            drafts, epochKey: world.zoneKey, signingKey: world.owner.signingKey, random: &random)
        return .with { request in
            (request.operationID, request.zone, request.atomic) = (Data(repeating: 6, count: 16), zoneID, true)
            request.signature = Data(signature)
            request.records = sealed.map { record in
                .with { wire in
                    (wire.recordName, wire.recordType) = (record.statement.recordName, record.statement.recordType)
                    wire.statement = Data(record.statementBytes)
                    wire.fields = record.fields.map { name, content, _ in
                        switch content {
                        case .stored(let field): WireField.stored(field, blob: nil).wire(name: name)
                        case .carried(let digest): WireField.digest(digest).wire(name: name)
                        }
                    }
                }
            }
        }
    }
}
