import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// One row of the table of limits: how to send so much of it, and what came of it.
struct LimitProbe: Sendable, CustomStringConvertible {
    let name: String
    /// Another number than the table's, where that may be set.
    var limit: Int?
    var serverLimits = ServerLimits()
    var rules: @Sendable (inout AbuseLimits) -> Void = { _ in }
    var maximumAssetSize: Int64 = 16 << 30
    /// What an amount is refused with; nil when it is taken.
    let run: @Sendable (RunningServer, Int) async throws -> ErrorCode?

    var description: String { name }

    static let all =
        requests + things + cascades + stored + accessRequests + rates + codes + together + queries + schemas + push

    // MARK: One request

    private static let requests = [
        LimitProbe(name: "requestBytes") { server, amount in
            // Whatever is wrong with the message, its size is not.
            var request = Sealkit_V1_ChallengeRequest.with { $0.loginKey = Data(count: amount) }
            request.loginKey = Data(count: 2 * amount - (try request.serializedData().count))
            let token = try await TestClient(server).create().token
            let code = try await RefusalClient(origin: server.origin, token: token).send(
                "/1/accounts/challenge", request
            ).code
            return code == .invalidArguments ? nil : code
        },
        LimitProbe(name: "requestBytesWithoutSession") { server, amount in
            var request = Sealkit_V1_ChallengeRequest.with { $0.loginKey = Data(count: amount) }
            request.loginKey = Data(count: 2 * amount - (try request.serializedData().count))
            let code = try await RefusalClient(origin: server.origin).send("/1/accounts/challenge", request).code
            return code == .invalidArguments ? nil : code
        },
        LimitProbe(name: "memoryPerByte") { server, amount in
            // Elements of nothing, and behind them what is passed over: as long as they would take so many times of it.
            func body(_ rest: Int) -> Data {
                var body = Data([UInt8](repeating: 0, count: 20_000))
                for index in stride(from: 0, to: 20_000, by: 2) { body[index] = 1 << 3 | 2 }
                body.append(15 << 3 | 2)
                for shift in [0, 7, 14, 21] { body.append(UInt8(rest >> shift & 0x7F) | (shift < 21 ? 0x80 : 0)) }
                return body + Data(count: rest)
            }
            let memory = try DecodedSize.measure(Sealkit_V1_ModifyRecordsResponse.self, protobuf: body(1 << 20))
            let length = (memory - DecodedSize.free + amount - 1) / amount
            do {
                _ = try DecodedSize.measure(Sealkit_V1_ModifyRecordsResponse.self, protobuf: body(length - 20_005))
                return nil
            } catch DecodedSize.Refusal.tooDense { return .limitExceeded }
        },
        LimitProbe(name: "requestSeconds") { _, amount in
            TransferPace.message.isTooSlow(.max, after: .seconds(amount)) ? .limitExceeded : nil
        },
        LimitProbe(name: "itemsPerRequest") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let looked = try await refusal { try await anna.lookup((0..<amount).map { "r\($0)" }, in: zone) }
            var (request, _) = try anna.request((0..<min(amount, 400)).map { Write("r\($0)") }, in: zone)
            // No honest client signs more.
            for _ in 400..<max(400, amount) { request.records.append(request.records[0]) }
            let sent = request
            let saved = try await refusal { try await anna.send(sent, to: zone) }
            let zones = try await refusal { try await anna.zones((0..<amount).map { ("z\($0)", "") }) }
            return looked == saved && saved == zones ? looked : .internalError
        },
        LimitProbe(name: "requestRecordBytes") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            func writes(_ last: Int) -> [Write] {
                [700_000, 700_000, last].enumerated().map { index, count in
                    var write = Write("r\(index)", nil)
                    write.fields = [("body", .plain(.data([UInt8](repeating: 1, count: count))))]
                    return write
                }
            }
            // What three records take beside their data: names, statements, and the names of their fields.
            let (small, _) = try anna.request(writes(1), in: zone)
            let beside = small.records.reduce(0) { $0 + $1.recordName.utf8.count + $1.statement.count + 4 }
            return try await refusal { try await anna.save(writes(amount - beside - 1_400_000), in: zone) }
        },
        LimitProbe(name: "entriesGivenBack") { server, amount in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeZone()
            for _ in 0..<2 { try await anna.append(try anna.next(on: zone, rotating: true), to: &zone) }
            let entries = try await anna.fetchRoster(zone).entries
            var roster = zone.roster
            var long = entries
            // What the server has is compared and passed over; what it has not follows.
            while long.count < amount {
                let draft = try anna.next(
                    on: TestZone(name: zone.name, owner: zone.owner, roster: roster, key: zone.key), rotating: true)
                try roster.append(draft.entry)
                if let key = draft.epochKey { zone.key = key }
                long.append(draft.entry.wire)
            }
            let request = Sealkit_V1_RestoreRosterRequest.with {
                $0.zone = zone.id(for: anna)
                $0.entries = long
            }
            return try await refusal { try await anna.restore(request) }
        },
        LimitProbe(name: "recordsAbove") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let saved = try await anna.save([Write("c0"), Write("top"), Write("leaf", parent: "top")], in: zone)
            // As deep as it has to be, as the database has it.
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    """
                    INSERT INTO record (owner, zone, name, type, position, revision, hash, creator, parent, created, modified,
                        deleted, assets, statement, proof, fields, tag, delete_references, share, key_known)
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1 - 1)
                    SELECT r.owner, r.zone, 'c' || n.i, r.type, r.position, r.revision, r.hash, r.creator, 'c' || (n.i - 1),
                        r.created, r.modified, 0, 0, r.statement, r.proof, r.fields, r.tag, 0, 0, 0
                    FROM record r, zone z, n WHERE r.name = 'c0' AND z.owner = r.owner AND z.zone = r.zone AND z.owner_name = $2
                    """, [.integer(Int64(amount)), .text(anna.user.recordName)])
            }
            var top = Write(after: saved[1])
            top.parent = "c\(amount - 1)"
            return try await anna.codes([top], in: zone)[0]
        },
        LimitProbe(name: "zonesPerRequest") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            // What they say is looked at later.
            let request = Sealkit_V1_ModifyZonesRequest.with {
                $0.operationID = Data(randomBytes(16))
                $0.deletes = [
                    .with {
                        $0.zoneID = zone.id(for: anna)
                        $0.shares = Array(repeating: Sealkit_V1_ShareClosing(), count: amount - 1)
                    }
                ]
            }
            return try await refusal {
                try await anna.client.call(anna.path("zones/modify"), request, as: Sealkit_V1_ModifyZonesResponse.self)
            }
        },
        LimitProbe(name: "sharesPerRequest") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            var writes: [PlacedWrite] = []
            var openings: [Sealkit_V1_ShareOpening] = []
            for index in 0..<amount {
                let (share, opening) = try anna.newShare("share\(index)", root: "root\(index)", in: zone)
                var record = Write("share\(index)", "title")
                record.type = Names.shareType
                writes += [
                    PlacedWrite(record, in: share),
                    PlacedWrite(Write("root\(index)"), in: share, share: "share\(index)"),
                ]
                openings.append(opening)
            }
            let request = try anna.request(writes, opening: openings).request
            return try await refusal {
                let codes = try await anna.send(request, to: zone).compactMap(\.code)
                guard codes.isEmpty else { throw TestFailure("\(codes)") }
            }
        },
        LimitProbe(name: "rostersPerRequest") { server, amount in
            let anna = try await Person.ready(server)
            let request = Sealkit_V1_FetchRostersRequest.with {
                $0.rosters = (0..<amount).map { index in .with { $0.zone.zoneName = "z\(index)" } }
            }
            return try await refusal {
                try await anna.client.call(
                    anna.path("rosters/fetch"), request, as: Sealkit_V1_FetchRostersResponse.self)
            }
        },
        LimitProbe(name: "fieldsWanted") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let keys = (0..<amount).map { "field\($0)" }
            let looked = try await refusal { try await anna.lookup(["a"], in: zone, keys: keys) }
            let changed = try await refusal { try await anna.changes(in: zone, keys: keys) }
            return looked == changed ? looked : .internalError
        },
        LimitProbe(name: "handlesPerLookup") { server, amount in
            try await lookUp(amount, try await Person.ready(server))
        },
    ]

    static func lookUp(_ amount: Int, _ person: Person) async throws -> ErrorCode? {
        let request = Sealkit_V1_LookupIdentitiesRequest.with {
            $0.container = TestClient.container
            $0.handles = (0..<amount).map { index in .with { $0.email = "a\(index)@example.org" } }
        }
        return try await refusal {
            try await person.client.call("/1/directory/lookup", request, as: Sealkit_V1_LookupIdentitiesResponse.self)
        }
    }

    // MARK: One thing

    private static let things = [
        LimitProbe(name: "nameBytes") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let name = String(repeating: "n", count: amount)
            let record = try await refusal { try await anna.lookup([name], in: zone) }
            let zones = try await anna.zones([(name, "")])[0].failure.errorCode
            return zones == (record ?? .zoneNotFound) ? record : .internalError
        },
        LimitProbe(name: "recordBytes") { server, amount in
            let anna = try await Person.ready(server)
            return try await anna.codes([try record(storedAs: amount)], in: try await anna.makeZone())[0]
        },
        LimitProbe(name: "indexedPartsPerRecord") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let words = (0..<amount / 2).map { "w\($0)" }.joined(separator: " ")
            let numbers = Value.list((0..<amount - amount / 2).map { .int64(Int64($0)) })
            return try await refusal {
                try await anna.save([.thing("r", ["numbers": numbers, "text": .string(words)])], in: zone)
            }
        },
        LimitProbe(name: "indexedPartsPerRequest") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            // The text is a value, too.
            let words = (1..<1_000).map { "w\($0)" }.joined(separator: " ")
            var records = [Write.thing("text", ["text": .string(words)])]
            for start in stride(from: 1_000, to: amount, by: 9_000) {
                let numbers = (start..<min(start + 9_000, amount)).map { Value.int64(Int64($0)) }
                records.append(.thing("r\(start)", ["numbers": .list(numbers)]))
            }
            return try await refusal { try await anna.save(records, in: zone) }
        },
        LimitProbe(name: "replacedBytesPerRequest") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            var saved: [SavedRecord] = []
            for index in 0..<17 {
                let size = amount / 17 + (index == 0 ? amount % 17 : 0)
                saved += try await anna.save([try record(storedAs: size, name: "r\(index)")], in: zone)
            }
            let deletions = saved.map { Write(after: $0, kind: .delete) }
            return try await refusal { try await anna.save(deletions, in: zone) }
        },
        LimitProbe(name: "fieldsPerRecord") { server, amount in
            let anna = try await Person.ready(server)
            var write = Write("a", nil)
            write.fields = (0..<min(amount, 1_000)).map { ("f\(10_000 + $0)", .plain(.int64(1))) }
            let zone = try await anna.makeZone()
            // No honest client signs more.
            var (request, _) = try anna.request([write], in: zone)
            for extra in 1_000..<max(1_000, amount) {
                request.records[0].fields.append(
                    WireField.stored(.plain(.int64(1)), blob: nil).wire(name: "f\(10_000 + extra)"))
            }
            return try await anna.send(request, to: zone)[0].code
        },
        LimitProbe(name: "assetBytes", limit: 1_000, maximumAssetSize: 1_000) { server, amount in
            let anna = try await Person.ready(server)
            return try await upload([amount], anna, to: try await anna.makeZone())
        },
        LimitProbe(name: "participantsPerShare") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeSharedZone()
            let invitations = try (0..<amount).map { _ in try anna.invitation(to: nil, in: zone) }
            do {
                let draft = try anna.next(on: zone, invitations: invitations.map(\.draft))
                return try await refusal {
                    try await anna.send(anna.appendRequest(draft, to: zone, links: invitations.map(\.link)), to: zone)
                }
            } catch SealError.tooManyParticipants {
                // The author's own check comes first; SharingTests sends what passes by it.
                return .tooManyParticipants
            }
        },
        LimitProbe(name: "previewBytes") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeSharedZone()
            var invitation = try anna.invitation(to: nil, in: zone)
            invitation.link.preview = Data(count: amount)
            let request = anna.appendRequest(
                try anna.next(on: zone, invitations: [invitation.draft]), to: zone, links: [invitation.link])
            return try await refusal { try await anna.send(request, to: zone) }
        },
        LimitProbe(name: "recoveryBundleBytes") { server, amount in
            let anna = try await Person.ready(server)
            let bundle = Sealkit_V1_RecoveryBundle.with {
                $0.recoveryID = Data(randomBytes(16))
                $0.sealed = Data(count: amount)
            }
            return try await refusal {
                try await anna.client.call("/1/accounts/recovery", bundle, as: Sealkit_V1_AccountResponse.self)
            }
        },
        LimitProbe(name: "enrolmentPackageBytes") { server, amount in
            let (new, old, id) = (try TestClient(server), try await TestClient.ready(server), ID16.random())
            let opened = try await new.openEnrolment(id)
            _ = try await old.claimEnrolment(id)
            try await old.answerEnrolment(id, randomBytes(32))
            try await new.revealEnrolment(id, ticket: opened.ticket, key: randomBytes(1_216), nonce: randomBytes(32))
            return try await refusal { try await old.deliverEnrolment(id, [UInt8](repeating: 1, count: amount)) }
        },
        LimitProbe(name: "deviceNameBytes") { server, amount in
            let client = try TestClient(server)
            _ = try await client.create()
            let named = client.onAnotherDevice(String(repeating: "d", count: amount))
            return try await refusal { try await named.login() }
        },
    ]

    /// A record whose fields take exactly so many bytes.
    private static func record(storedAs amount: Int, name: String = "a") throws -> Write {
        var write = Write(name, nil)
        func size(_ count: Int) throws -> Int {
            var encoder = FieldEncoder()
            try encoder.append("body", .stored(.plain(.data([UInt8](repeating: 1, count: count))), blob: nil))
            return encoder.bytes.count
        }
        var count = amount - (try size(amount) - amount)
        while try size(count) < amount { count += 1 }
        guard try size(count) == amount else { throw TestFailure("no record of \(amount) bytes") }
        write.fields = [("body", .plain(.data([UInt8](repeating: 1, count: count))))]
        return write
    }

    /// Uploads of these lengths; what the last one is refused with.
    private static func upload(_ lengths: [Int], _ person: Person, to zone: TestZone) async throws -> ErrorCode? {
        var code: ErrorCode?
        for length in lengths {
            let body = ByteBuffer(bytes: AssetTests.blob([UInt8](repeating: 1, count: length)))
            code = try await AssetTests().send(person, .PUT, Hex.encode(randomBytes(16)), in: zone, .bytes(body)).code
        }
        return code
    }

    // MARK: What is stored

    private static func setting(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
        var limits = ServerLimits()
        change(&limits)
        return limits
    }

    private static let stored = [
        LimitProbe(name: "devicesPerAccount") { server, amount in
            var client = try TestClient(server)
            client.token = try await client.create().token
            let first = client
            for _ in 1..<amount {
                client.device = .random()
                _ = try await client.login()
            }
            return try await refusal { try await first.me() }
        },
        LimitProbe(name: "sessionsPerDevice") { server, amount in
            var client = try TestClient(server)
            client.token = try await client.create().token
            let first = client
            for _ in 1..<amount {
                server.clock.advance(seconds: 1)
                _ = try await client.login()
            }
            return try await refusal { try await first.me() }
        },
        LimitProbe(name: "containersPerAccount", limit: 2, rules: { $0.containersPerAccount = 2 }) { server, amount in
            let anna = try await TestClient.ready(server)
            return try await refusal {
                for index in 1..<amount {
                    let container = "org.example.other\(index)"
                    let identity = TestClient.identity(anna.signingKey, container: container)
                    let chain = try IdentityChain(verifying: [identity], container: container)
                    _ = try await anna.register(chain: chain.wire, container: container)
                }
            }
        },
        LimitProbe(name: "storageBytes", limit: 50_000, serverLimits: setting { $0.storageQuota = 50_000 }) {
            server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            // Beside what the account, its device and the zone count already.
            let used = try await anna.client.call("/1/accounts/usage", nil, as: Sealkit_V1_StorageUsageResponse.self)
                .bytes
            let write = try record(storedAs: amount - Int(used) - Int(Billing.recordOverhead))
            return try await refusal { try await anna.save([write], in: zone) }
        },
        LimitProbe(name: "publicStorageBytes", limit: 5_000, serverLimits: setting { $0.publicStorageQuota = 5_000 }) {
            server, amount in
            do {
                try server.services.quotas.checkStorage(Int64(amount), isPublic: true, isOwner: false)
                return nil
            } catch let error as ServerError {
                return error.code
            }
        },
        LimitProbe(name: "recordsPerZone", limit: 3, serverLimits: setting { $0.recordsPerZone = 3 }) {
            server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            return try await refusal { try await anna.save((0..<amount).map { Write("r\($0)") }, in: zone) }
        },
        LimitProbe(name: "zonesPerUser", limit: 3, serverLimits: setting { $0.zonesPerUser = 3 }) { server, amount in
            let anna = try await Person.ready(server)
            let saves = try (0..<amount).map { ("z\($0)", try anna.opening("z\($0)")) }
            let results = try await anna.modifyZones(saving: saves)
            if case .failure(let failure)? = results.last?.outcome { return failure.errorCode }
            return nil
        },
        LimitProbe(name: "rosterEntries", limit: 4, rules: { $0.rosterEntries = 4 }) { server, amount in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            var code: ErrorCode?
            for _ in 2..<max(3, amount) {
                let made = zone
                code = try await refusal {
                    var next = made
                    let invitation = try anna.invitation(to: nil, in: next)
                    try await anna.append(
                        try anna.next(on: next, invitations: [invitation.draft]), to: &next, links: [invitation.link])
                }
                let tail = try await anna.fetchRoster(zone, after: zone.roster.sequence)
                for entry in tail.entries { try zone.roster.append(SignedRosterEntry(entry)) }
            }
            return code
        },
        LimitProbe(name: "stagedAssets", limit: 3, rules: { $0.stagedBlobsPerAccount = 3 }) { server, amount in
            let anna = try await Person.ready(server)
            return try await upload(Array(repeating: 100, count: amount), anna, to: try await anna.makeZone())
        },
        LimitProbe(name: "openUploads", limit: 3, rules: { $0.openUploadsPerAccount = 3 }) { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            var code: ErrorCode?
            for _ in 0..<amount {
                let upload = UploadTests.Upload(anna, zone, bytes: 100)
                code = try await refusal { _ = try await upload.begin() }
            }
            return code
        },
        LimitProbe(name: "stagedAssetBytes", limit: 1_000, rules: { $0.stagedBytesPerAccount = 1_000 }) {
            server, amount in
            let anna = try await Person.ready(server)
            return try await upload([100, amount - 100], anna, to: try await anna.makeZone())
        },
    ]
}
