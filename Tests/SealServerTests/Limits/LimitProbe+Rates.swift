import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Rates, and what everybody does together.
extension LimitProbe {
    // MARK: How often

    private static let three = TokenBucket.Rule(count: 3, window: 60_000_000)

    /// The code of the last of so many calls; codes of other causes are none.
    static func last(
        _ amount: Int, refusedWith expected: ErrorCode = .requestRateLimited, _ call: (Int) async throws -> ErrorCode?
    ) async throws -> ErrorCode? {
        var code: ErrorCode?
        for index in 0..<amount { code = try await call(index) }
        return code == expected ? code : nil
    }

    private static func stranger(_ server: RunningServer, _ amount: Int) throws -> TestClient {
        var client = try TestClient(server)
        // An address of its own for each amount.
        client.forwardedFor = "203.0.113.\(amount)"
        return client
    }

    /// A share that strangers may ask for access to, and its URL's routing id.
    static func askable(_ server: RunningServer) async throws -> (zone: TestZone, routing: [UInt8], owner: Person) {
        let anna = try await Person.ready(server)
        var zone = try await anna.makeZone()
        let routing = randomBytes(16)
        try await anna.append(
            try anna.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &zone,
            links: [.with { $0.routingID = Data(routing) }])
        try await anna.updateAccess(zone, allows: true)
        return (zone, routing, anna)
    }

    /// So many requests that wait: rows, as the server would have made them.
    static func ask(_ count: Int, perShare: Bool, of zone: TestZone, by bert: Person, _ server: RunningServer)
        async throws
    {
        try await server.services.database.write(at: .everything) { connection in
            for index in 0..<count {
                try connection.execute(
                    """
                    INSERT INTO access_request (owner, zone, share, requester, request, contact, created, approved)
                    SELECT z.owner, z.zone + $3, 0, CASE WHEN $4 > 0 THEN $4 ELSE i.id END, $5, $5, 1, 0
                    FROM zone z, identity i WHERE z.owner_name = $1 AND z.name = 'notes' AND i.user_name = $2
                    """,
                    [
                        .text(zone.owner.recordName), .text(bert.user.recordName),
                        .integer(perShare ? 0 : Int64(index + 1)),
                        .integer(perShare ? Int64(1_000 + index) : 0), .blob([1]),
                    ])
            }
        }
    }

    static let accessRequests = [
        LimitProbe(name: "accessRequestsPerShare") { server, amount in
            let (zone, routing, _) = try await askable(server)
            let bert = try await Person.ready(server)
            try await ask(amount - 1, perShare: true, of: zone, by: bert, server)
            return try await refusal { try await bert.ask(routing) }
        },
        LimitProbe(name: "accessRequestsPerUser") { server, amount in
            let (zone, routing, _) = try await askable(server)
            let bert = try await Person.ready(server)
            try await ask(amount - 1, perShare: false, of: zone, by: bert, server)
            return try await refusal { try await bert.ask(routing) }
        },
    ]

    static let rates = [
        LimitProbe(name: "requestRate", limit: 3, rules: { $0.request = three }) { server, amount in
            var client = try TestClient(server)
            client.token = try await client.create().token
            let ready = client
            return try await last(amount) { _ in try await refusal { try await ready.me() } }
        },
        LimitProbe(name: "writeRate", limit: 3, rules: { $0.write = three }) { server, amount in
            let anna = try await Person.ready(server)
            // The zone is one of them.
            let zone = try await anna.makeZone()
            return try await last(amount - 1) { index in
                try await refusal { try await anna.save([Write("r\(index)")], in: zone) }
            }
        },
        LimitProbe(name: "readRate", limit: 3, rules: { $0.read = three }) { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            return try await last(amount) { _ in try await refusal { try await anna.lookup(["r"], in: zone) } }
        },
        LimitProbe(name: "sharingRate", limit: 3, rules: { $0.sharing = three }) { server, amount in
            // Registering the identity is one of them.
            let anna = try await Person.ready(server)
            return try await last(amount - 1) { _ in try await refusal { try await anna.metadata(randomBytes(16)) } }
        },
        LimitProbe(name: "anonymousRate", limit: 3, rules: { $0.anonymousRequest = three }) { server, amount in
            let client = try stranger(server, amount)
            return try await last(amount) { _ in try await refusal { try await client.me() } }
        },
        LimitProbe(name: "accountCreations", limit: 3, rules: { $0.accountCreation = three }) { server, amount in
            try await last(amount) { _ in
                let client = try stranger(server, amount)
                return try await refusal { try await client.create() }
            }
        },
        LimitProbe(name: "lookups", limit: 3, rules: { $0.lookup = three }) { server, amount in
            let anna = try await Person.ready(server)
            return try await last(amount) { _ in try await lookUp(1, anna) }
        },
        LimitProbe(name: "verificationTries", limit: 3, rules: { $0.verificationTry = three }) { server, amount in
            let anna = try await Person.ready(server)
            return try await last(amount) { _ in
                try await refusal { try await anna.client.complete(Data(randomBytes(16)), "00000000") }
            }
        },
        LimitProbe(
            name: "rosterEntriesBeyond", limit: 3,
            rules: {
                $0.rosterEntries = 2
                $0.rosterEntriesBeyond = three
            }
        ) { server, amount in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            var code: ErrorCode?
            for _ in 0..<amount {
                do {
                    try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
                } catch let refusal as Refusal {
                    code = refusal.code
                }
            }
            return code
        },
        LimitProbe(name: "epochOpenings", limit: 3, rules: { $0.epochOpening = three }) { server, amount in
            // SharingTests opens real epochs.
            try await last(amount) { _ in
                do {
                    try server.services.rates.limiter.count(
                        .epochOpening, .author(owner: 1, zone: 1, caller: Int64(amount)),
                        rule: server.services.rates.limits.epochOpening, now: server.clock.now)
                    return nil
                } catch let error as ServerError {
                    return error.code
                }
            }
        },
        LimitProbe(name: "accessRequests", limit: 3, rules: { $0.accessRequest = three }) { server, amount in
            let (zone, routing, anna) = try await askable(server)
            let bert = try await Person.ready(server)
            return try await last(amount) { _ in
                try await anna.updateAccess(zone, denied: [bert.user.recordName])
                return try await refusal { try await bert.ask(routing) }
            }
        },
        LimitProbe(name: "serverKeyCreations", limit: 3, rules: { $0.serverKeyCreation = three }) { server, amount in
            let anna = try await Person.ready(server)
            return try await last(amount) { _ in
                let key = try ServerKeyClient(server)
                return try await refusal { try await anna.createServerKey(key.chain, signer: key.key) }
            }
        },
        LimitProbe(name: "enrolments", limit: 3, rules: { $0.enrolment = three }) { server, amount in
            let client = try stranger(server, amount)
            let opened = try await last(amount) { _ in try await refusal { try await client.openEnrolment(.random()) } }
            let anna = try await Person.ready(server)
            let claimed = try await last(amount) { _ in
                try await refusal { try await anna.client.claimEnrolment(.random()) }
            }
            return opened == claimed ? opened : .internalError
        },
        LimitProbe(name: "recoveries", limit: 3, rules: { $0.recovery = three }) { server, amount in
            let client = try stranger(server, amount)
            let request = Sealkit_V1_RecoverRequest.with { $0.recoveryID = Data(count: 16) }
            return try await last(amount) { _ in
                try await refusal {
                    try await client.call("/1/accounts/recover", request, as: Sealkit_V1_RecoverResponse.self)
                }
            }
        },
    ]

    // MARK: Everybody together

    /// LoadTests meets both over HTTP.
    static let together = [
        LimitProbe(name: "enrolmentsOpen") { server, amount in
            // Rows, as the server would have made them.
            let expires = server.clock.now + 60_000_000
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute("DELETE FROM enrolment")
                for index in 1..<amount {
                    try connection.execute(
                        "INSERT INTO enrolment (id, ticket_hash, commitment, expires) VALUES ($1, $2, $2, $3)",
                        [
                            .blob(ServerBytes.of(Int64(index)) + [UInt8](repeating: 0, count: 8)), .blob([1]),
                            .integer(expires),
                        ])
                }
            }
            let client = try TestClient(server)
            return try await refusal { try await client.openEnrolment(.random()) }
        },
        LimitProbe(name: "requestsInFlight", limit: 3) { _, amount in
            held(LoadGate(requests: 3, bytes: 0), amount)
        },
        LimitProbe(name: "bytesInFlight", limit: 30) { _, amount in held(LoadGate(requests: 0, bytes: 30), amount) },
        LimitProbe(name: "requestsInFlightPerClient", limit: 3) { _, amount in
            held(LoadGate(requests: 12, bytes: 0), amount, from: 1)
        },
        LimitProbe(name: "bytesInFlightPerClient", limit: 3) { _, amount in
            held(LoadGate(requests: 0, bytes: 12), amount, from: 1)
        },
        LimitProbe(name: "requestsInFlightWithoutSession", limit: 30) { _, amount in
            held(LoadGate(requests: 120, bytes: 0), amount, areStrangers: true)
        },
        LimitProbe(name: "bytesInFlightWithoutSession", limit: 30) { _, amount in
            held(LoadGate(requests: 0, bytes: 120), amount, areStrangers: true)
        },
        LimitProbe(name: "requestsInFlightPerStranger", limit: 3) { _, amount in
            held(LoadGate(requests: 48, bytes: 0), amount, from: 1, areStrangers: true)
        },
        LimitProbe(name: "bytesInFlightPerStranger", limit: 3) { _, amount in
            held(LoadGate(requests: 0, bytes: 48), amount, from: 1, areStrangers: true)
        },
        LimitProbe(name: "writeBudget", limit: 3) { _, amount in
            let (folder, clock) = (TemporaryFolder(), SteppingClock())
            defer { withExtendedLifetime(folder) {} }
            let database = try SQLiteDatabase(
                path: folder.file("db"), migrations: Migration.all,
                budget: WriteBudget(limit: 3_000_000, clock: clock.read))
            do {
                try await WriteTurn.$current.withValue(
                    WriteTurn(payer: .account(1), route: .init(method: "POST", path: "/"))
                ) {
                    try await database.write(at: .everything) { connection in
                        clock.advance(Int64(amount) * 1_000_000)
                        _ = try connection.exists("SELECT 1")
                    }
                }
                return nil
            } catch {
                return ServerError.describing(error, requestID: "").error.code
            }
        },
    ]

    /// So many requests of a byte each.
    /// - Parameter addresses: from how many client addresses; nil for one each.
    private static func held(_ gate: LoadGate, _ amount: Int, from addresses: Int? = nil, areStrangers: Bool = false)
        -> ErrorCode?
    {
        do throws(ServerError) {
            var passes: [LoadGate.Pass] = []
            for index in 0..<amount {
                let pass = try gate.enter([UInt8(index % (addresses ?? 256))])
                if areStrangers { try pass.countAsStranger() }
                try pass.take(1)
                passes.append(pass)
            }
            withExtendedLifetime(passes) {}
            return nil
        } catch {
            return error.code
        }
    }
}
