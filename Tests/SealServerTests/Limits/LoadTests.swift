import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What the server does when more comes than it can hold at once.
@Suite(.timeLimit(.minutes(60))) struct LoadTests {
    private static let (anna, bert, carl): ([UInt8], [UInt8], [UInt8]) = ([1], [2], [3])

    private func isFull(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch let error as ServerError {
            return error.code == .serviceUnavailable && error.retryAfter == 1
        } catch {
            return false
        }
    }

    @Test func theGateGivesBackWhatItGave() throws {
        let gate = LoadGate(requests: 2, bytes: 100)
        let (first, second) = (try gate.enter(Self.anna), try gate.enter(Self.bert))
        let third = isFull { _ = try gate.enter(Self.carl) }
        #expect(third)
        #expect(gate.requestsUnderWay == 2)
        try first.take(25)
        try second.take(10)
        #expect(gate.bytesUnderWay == 35)
        first.end()
        first.end()
        #expect(gate.bytesUnderWay == 10)
        #expect(gate.requestsUnderWay == 1)
        var another: LoadGate.Pass? = try gate.enter(Self.carl)
        try another?.take(20)
        // However it ends.
        another = nil
        #expect(gate.bytesUnderWay == 10)
        #expect(gate.requestsUnderWay == 1)
        second.end()
        #expect(gate.bytesUnderWay == 0)
        #expect(gate.requestsUnderWay == 0)
        // What is larger than everything goes alone, in however many pieces it comes.
        let large = try gate.enter(Self.anna)
        for _ in 0..<10 { try large.take(50) }
        let beside = try gate.enter(Self.bert)
        let hasNoRoom = isFull { try beside.take(1) }
        #expect(hasNoRoom)
        large.end()
        try beside.take(1)
        // Answers have room of their own, also after the request's end.
        let answer = try beside.hold(answer: 25, isDone: false)
        beside.end()
        let next = try gate.enter(Self.bert)
        let isHeld = isFull { _ = try next.hold(answer: 1, isDone: false) }
        #expect(isHeld)
        #expect(gate.answersUnderWay == 25)
        withExtendedLifetime(answer) {}
        let open = LoadGate(requests: 0, bytes: 0)
        var passes: [LoadGate.Pass] = []
        for _ in 0..<10 {
            let pass = try open.enter(Self.anna)
            try pass.countAsStranger()
            try pass.take(1 << 40)
            passes.append(pass)
        }
    }

    @Test func nobodyHasAllOfTheRoom() throws {
        let gate = LoadGate(requests: 64, bytes: 1_600)
        var passes = try (0..<16).map { _ in try gate.enter(Self.anna) }
        for pass in passes { try pass.take(25) }
        let (isRequestRefused, isByteRefused) = (
            isFull { _ = try gate.enter(Self.anna) }, isFull { try passes[0].take(1) }
        )
        #expect(isRequestRefused)
        #expect(isByteRefused)
        // Others go on.
        let known = try gate.enter(Self.bert)
        try known.take(400)
        // Without a session, all together have as much as one with it, and each of them a quarter of that.
        for address in UInt8(0)..<4 {
            for count in [60, 40] {
                let pass = try gate.enter([10, address])
                try pass.countAsStranger()
                try pass.take(count)
                passes.append(pass)
            }
            let hasEnough = isFull { try passes[passes.count - 1].take(1) }
            #expect(hasEnough)
        }
        let late = try gate.enter(Self.carl)
        try late.countAsStranger()
        let isStrangersByteRefused = isFull { try late.take(1) }
        #expect(isStrangersByteRefused)
        // Who turns out to be somebody is counted with them no more.
        let found = passes[passes.count - 1]
        found.countAsKnown()
        try late.take(40)
        try found.take(100)
        #expect(gate.bytesUnderWay == 1_340)
        for address in UInt8(0)..<8 {
            let pass = try gate.enter([11, address])
            try pass.countAsStranger()
            passes.append(pass)
        }
        let last = try gate.enter([12])
        let isStrangerRefused = isFull { try last.countAsStranger() }
        #expect(isStrangerRefused)
        for pass in passes + [late, last] { pass.end() }
        #expect(gate.bytesUnderWay == 400)
        #expect(gate.requestsUnderWay == 1)
        known.end()
        #expect(gate.bytesUnderWay == 0)
        #expect(gate.requestsUnderWay == 0)
    }

    /// A place is somebody else's only once neither a request nor an answer counts there.
    @Test func clientsAreForgottenWithTheirLastAnswer() throws {
        let gate = LoadGate(requests: 16, bytes: 1_600)
        var passes = try (0..<4).map { try gate.enter([UInt8($0)]) }
        for pass in passes {
            try pass.countAsStranger()
            try pass.take(10)
        }
        var answers = [try passes[0].hold(answer: 100, isDone: false)]
        #expect(gate.rememberedClients == 4)
        passes = []
        #expect(gate.rememberedClients == 1)
        #expect(gate.requestsUnderWay == 0)
        #expect(gate.bytesUnderWay == 0)
        #expect(gate.answersUnderWay == 100)
        // Another client's counts are its own, and what a stranger's answer takes stays with that.
        passes = [try gate.enter([9])]
        try passes[0].countAsStranger()
        answers.append(try passes[0].hold(answer: 100, isDone: false))
        let hasEnough = isFull { _ = try passes[0].hold(answer: 1, isDone: false) }
        #expect(hasEnough)
        #expect(gate.answersUnderWay == 200)
        answers = []
        passes = []
        #expect(gate.rememberedClients == 0)
        #expect(gate.requestsUnderWay == 0)
        #expect(gate.answersUnderWay == 0)
    }

    /// Whoever reads it first.
    @Test func aSignedBodyIsCountedOnce() async throws {
        var limits = ServerLimits()
        limits.bytesInFlight = 8 << 20
        try await RunningServer.with(serverLimits: limits) { server in
            let anna = try await Person.ready(server)
            let key = try await ServerKeyClient.ready(by: anna)
            // A client's share holds the body once, beside another request.
            let slow = SlowRequest(server, token: anna.client.token, from: "203.0.113.1")
            slow.send(1)
            try await waitUntil("the other is there") { server.services.gate.bytesUnderWay == 1 }
            var call = try key.call(Person.publicPath("records/modify"), Sealkit_V1_ModifyRecordsRequest())
            call.body = [UInt8](repeating: 0, count: 3 << 19)
            let answer = try await key.send(call)
            #expect(answer.code == .invalidArguments, "as any other body that is no message")
            try await waitUntil("it has gone") { server.services.gate.bytesUnderWay == 1 }
            slow.parts.finish()
            _ = try await slow.answer.value
        }
    }

    /// Keeps one thread, the writer's, until it is let go.
    private final class Brake: Sendable {
        private let isHeld = Mutex(true)
        private let hasBegun = Mutex(false)
        func hold() {
            hasBegun.withLock { $0 = true }
            while isHeld.withLock({ $0 }) { usleep(1_000) }
        }
        func release() { isHeld.withLock { $0 = false } }
        func waitUntilHeld() async throws {
            while !hasBegun.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    @Test func whatFindsNoRoomIsToldWhenToComeAgain() async throws {
        var limits = ServerLimits()
        limits.requestsInFlight = 1
        let brake = Brake()
        try await RunningServer.with(serverLimits: limits) { server in
            var anna = try TestClient(server)
            anna.token = try await anna.create().token
            let client = anna
            // The writer is held; a logout waits for it, and is all that the server takes.
            async let held: Void = server.services.database.write(at: .everything) { _ in brake.hold() }
            try await brake.waitUntilHeld()
            async let waiting: Void = logOut(client)
            var refused: Refusal?
            try await waitUntil("the logout has come") {
                do {
                    _ = try await client.me()
                } catch let refusal as Refusal {
                    refused = refusal
                }
                return refused != nil
            }
            #expect(refused?.status == 503)
            #expect(refused?.code == .serviceUnavailable)
            #expect(refused?.failure.retryAfter == 1)
            // Load balancers still get their answer.
            var health = HTTPClientRequest(url: server.origin + "/health")
            health.method = .GET
            #expect(try await HTTPClient.shared.execute(health, timeout: .seconds(300)).status == .ok)
            brake.release()
            _ = try await (held, waiting)
            try await expectRefusal(.sessionExpired) { try await client.me() }
        }
    }

    /// What has been done is told, however much waits for slow clients; what the server has instead of what it refused
    /// is left out then.
    @Test func aChangeIsAnsweredWhereThereIsNoRoomForItsAnswer() async throws {
        var limits = ServerLimits()
        limits.bytesInFlight = 1 << 20
        try await RunningServer.with(serverLimits: limits) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            _ = try await anna.save([Write("large", String(repeating: "x", count: 100_000))], in: zone)
            let pass = try server.services.gate.enter([127, 0, 0, 1])
            let held = try pass.hold(answer: 256 << 10, isDone: false)
            let results = try await anna.save([Write("large"), Write("new")], in: zone, atomic: false).map(\.result)
            #expect(results.map(\.code) == [.serverRecordChanged, nil])
            #expect(!results[0].hasServerRecord)
            // What changes nothing can be asked for again.
            try await expectRefusal(.serviceUnavailable) { try await anna.lookup(["large"], in: zone) }
            try await waitUntil("the answer's room is given back") {
                server.services.gate.answersUnderWay == 256 << 10
            }
            // Who has not taken so much that it is beyond all room changes nothing before that.
            let told = try pass.hold(answer: (256 << 10) + 1, isDone: true)
            try await expectRefusal(.serviceUnavailable) { try await anna.save([Write("newer")], in: zone) }
            withExtendedLifetime((held, told)) {}
            pass.end()
        }
    }

    /// What is added to an answer asks, and counts once.
    @Test func anAnswerThatIsMadeAsksForRoom() throws {
        let gate = LoadGate(requests: 0, bytes: 4 << 20)
        var passes: [LoadGate.Pass] = []
        let first = try gate.enter(Self.anna)
        let (hasRoom, isAtLimit) = (first.makeRoom(answer: 1 << 20), gate.answersUnderWay == 1 << 20)
        #expect(hasRoom && isAtLimit)
        for _ in 0..<5 {
            let pass = try gate.enter(Self.anna)
            let (isSmallMade, isLargeMade) = (pass.makeRoom(answer: 60 << 10), pass.makeRoom(answer: 1 << 20))
            #expect(isSmallMade)
            #expect(!isLargeMade)
            passes.append(pass)
        }
        #expect(gate.answersUnderWay == 1 << 20)
        // Ready, it is as long as it is.
        let answer = try first.hold(answer: 1 << 20 + 100, isDone: true)
        #expect(gate.answersUnderWay == 1 << 20 + 100)
        first.end()
        let (isRefused, isBertRefused) = (
            isFull { try passes[0].requireRoomForAnswer() }, isFull { try gate.enter(Self.bert).requireRoomForAnswer() }
        )
        #expect(isRefused)
        #expect(!isBertRefused)
        withExtendedLifetime(answer) {}
        // One that fails before it is ready gives its room back.
        let late = try gate.enter(Self.carl)
        let isMade = late.makeRoom(answer: 100 << 10)
        #expect(isMade)
        late.end()
        #expect(gate.answersUnderWay <= 1 << 20 + 100)
    }

    @Test func whatReadsWaitForKeepsNoChangeBack() throws {
        let gate = LoadGate(requests: 0, bytes: 4 << 20)
        var held: [LoadGate.Hold] = []
        for client in [Self.anna, Self.bert, Self.carl, [9]] {
            held.append(try gate.enter(client).hold(answer: 1 << 20, isDone: false))
        }
        // Beyond the room for all.
        held.append(try gate.enter(Self.anna).hold(answer: 80 << 10, isDone: true))
        for client in [Self.anna, Self.bert, [10]] { try gate.enter(client).requireRoomForAnswer() }
        // A read that alone is more than a share.
        let other = LoadGate(requests: 0, bytes: 4 << 20)
        held.append(try other.enter(Self.anna).hold(answer: 3 << 20, isDone: false))
        try other.enter(Self.anna).requireRoomForAnswer()
        withExtendedLifetime(held) {}
    }

    /// Until there is room for it.
    private func logOut(_ client: TestClient) async throws {
        for _ in 0..<1_000 {
            let code = try await refusal {
                try await client.call(
                    "/1/accounts/logout", Sealkit_V1_AccountResponse(), as: Sealkit_V1_AccountResponse.self)
            }
            guard code == .serviceUnavailable else { return }
        }
    }

    /// A request whose body comes as the test says.
    private struct SlowRequest {
        let parts: AsyncStream<ByteBuffer>.Continuation
        let answer: Task<UInt, any Error>

        init(
            _ server: RunningServer, _ path: String = "/1/accounts/challenge", method: HTTPMethod = .POST,
            length: Int64? = nil, token: String = "", from client: String,
            on pool: HTTPClient = .shared
        ) {
            let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
            var request = HTTPClientRequest(url: server.origin + path)
            request.method = method
            request.headers.add(name: "Content-Type", value: RefusalClient.protobuf)
            request.headers.add(name: "X-Forwarded-For", value: client)
            if !token.isEmpty { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
            request.body = .stream(stream, length: length.map { .known($0) } ?? .unknown)
            let sent = request
            parts = continuation
            answer = Task { try await pool.execute(sent, timeout: .seconds(300)).status.code }
        }

        func send(_ count: Int) { parts.yield(ByteBuffer(repeating: 0, count: count)) }
    }

    private static func post(_ server: RunningServer, _ count: Int, token: String = "", from client: String)
        async throws -> UInt
    {
        let request = SlowRequest(server, token: token, from: client)
        request.send(count)
        request.parts.finish()
        return try await request.answer.value
    }

    private static func many() -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 200
        return HTTPClient(configuration: configuration)
    }

    @Test func whatIsOnlyAnnouncedTakesNoRoom() async throws {
        try await RunningServer.with(behindProxy: true) { server in
            let pool = Self.many()
            defer { pool.shutdown { _ in } }
            let anna = try await TestClient(server).create().token
            // As many as would fill the server, had they what they announce: without an account, as much as may be;
            // with one, all of it.
            var requests: [SlowRequest] = []
            for index in 0..<64 {
                requests.append(SlowRequest(server, length: 256 << 10, from: "203.0.113.1", on: pool))
                requests.append(
                    SlowRequest(server, length: 4 << 20, token: anna, from: "203.0.113.\(2 + index % 3)", on: pool))
            }
            for request in requests { request.send(1) }
            try await waitUntil("all have come") { server.services.gate.bytesUnderWay == requests.count }
            for client in ["203.0.113.1", "198.51.100.1"] {
                let (small, large) = (
                    try await Self.post(server, 200 << 10, from: client),
                    try await Self.post(server, 4 << 20, token: anna, from: client)
                )
                #expect(small == 400, "as any other request that is no message")
                #expect(large == 400, "as any other request that is no message")
            }
            for request in requests { request.parts.finish() }
            for request in requests { _ = try? await request.answer.value }
            try await waitUntil("all are gone") { server.services.gate.requestsUnderWay == 0 }
            #expect(server.services.gate.bytesUnderWay == 0)
            #expect(server.services.transfers.count == 0)
        }
    }

    @Test func bodiesThatAreReadAreBounded() async throws {
        var limits = ServerLimits()
        limits.bytesInFlight = 8 << 20
        try await RunningServer.with(behindProxy: true, serverLimits: limits) { server in
            let anna = try await TestClient(server).create().token
            // Half of an address's share has come; as much again does not fit beside it, from there.
            let slow = SlowRequest(server, token: anna, from: "203.0.113.1")
            slow.send(3 << 19)
            try await waitUntil("the body is under way") { server.services.gate.bytesUnderWay == 3 << 19 }
            let refused = try await Self.post(server, 1 << 20, token: anna, from: "203.0.113.1")
            #expect(refused == 503)
            let (small, elsewhere) = (
                try await Self.post(server, 1 << 10, token: anna, from: "203.0.113.1"),
                try await Self.post(server, 1 << 20, token: anna, from: "203.0.113.2")
            )
            #expect(small == 400)
            #expect(elsewhere == 400)
            slow.parts.finish()
            #expect(try await slow.answer.value == 400)
            let again = try await Self.post(server, 1 << 20, token: anna, from: "203.0.113.1")
            #expect(again == 400)
        }
    }

    @Test func oneAddressHasAShareOfTheRequests() async throws {
        var limits = ServerLimits()
        limits.requestsInFlight = 32
        try await RunningServer.with(behindProxy: true, serverLimits: limits) { server in
            let pool = Self.many()
            defer { pool.shutdown { _ in } }
            let anna = try await TestClient(server).create().token
            var requests = (0..<2).map { _ in SlowRequest(server, from: "203.0.113.1", on: pool) }
            try await waitUntil("two strangers are there") { server.services.transfers.count == 2 }
            let stranger = try await Self.post(server, 1, from: "203.0.113.1")
            requests += (0..<6).map { _ in SlowRequest(server, token: anna, from: "203.0.113.1", on: pool) }
            try await waitUntil("all are there") { server.services.transfers.count == 8 }
            let (known, elsewhere) = (
                try await Self.post(server, 1, token: anna, from: "203.0.113.1"),
                try await Self.post(server, 1, from: "203.0.113.2")
            )
            #expect(stranger == 503)
            #expect(known == 503)
            #expect(elsewhere == 400)
            for request in requests { request.parts.finish() }
            for request in requests { _ = try? await request.answer.value }
        }
    }

    @Test func aBodyThatComesTooSlowlyIsCut() async throws {
        let instants = TestInstants()
        try await RunningServer.with(behindProxy: true, instants: instants) { server in
            let pool = Self.many()
            defer { pool.shutdown { _ in } }
            let transfers = server.services.transfers
            let anna = try await Person.ready(server)
            let token = anna.client.token
            let zone = try await anna.makeZone()
            let asset = anna.path("assets/-/\(zone.name)/\(Hex.encode(randomBytes(16)))")
            let requests = [
                SlowRequest(server, from: "203.0.113.1", on: pool),
                SlowRequest(server, token: token, from: "203.0.113.1", on: pool),
                SlowRequest(server, asset, method: .PUT, length: 100_000, token: token, from: "203.0.113.1", on: pool),
            ]
            for request in requests { request.send(1) }
            try await waitUntil("all are there") { transfers.count == 3 && server.services.gate.bytesUnderWay == 3 }
            instants.advance(seconds: 15)
            transfers.cutSlow()
            let count = transfers.count
            #expect(count == 3)
            instants.advance(seconds: 1)
            transfers.cutSlow()
            try await waitUntil("all are gone") { transfers.count == 0 && server.services.gate.requestsUnderWay == 0 }
            for request in requests {
                request.parts.finish()
                let status = try? await request.answer.value
                #expect(status != 200)
                #expect(status != 201)
            }
            #expect(server.services.gate.bytesUnderWay == 0)
            // One that comes steadily has its time, and is told when that is over.
            let steady = SlowRequest(server, token: token, from: "203.0.113.1", on: pool)
            for second in 1...10 {
                steady.send(40 << 10)
                try await waitUntil("it has come") { server.services.gate.bytesUnderWay == second * 40 << 10 }
                instants.advance(seconds: 30)
                transfers.cutSlow()
            }
            let isThere = transfers.count
            instants.advance(seconds: 1)
            steady.send(1)
            let status = try await steady.answer.value
            #expect(isThere == 1)
            #expect(status == 408)
        }
    }

    /// As much of a download as is in memory is counted, and its client has to go on taking it.
    @Test func downloadsThatNobodyTakesAreBoundedAndCut() async throws {
        var limits = ServerLimits()
        limits.bytesInFlight = 1 << 20
        let (instants, log) = (TestInstants(), LogCapture())
        try await RunningServer.with(instants: instants, logger: log.logger, serverLimits: limits) { server in
            let (gate, transfers) = (server.services.gate, server.services.transfers)
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            // More than the sockets between hold.
            let asset = try await AssetTests().upload(anna, [UInt8](repeating: 7, count: 32 << 20), in: zone)
            func download(_ range: String? = nil) async throws -> HTTPClientResponse {
                var request = HTTPClientRequest(url: server.origin + anna.path("assets/-/\(zone.name)/\(asset)"))
                request.headers.add(name: "Authorization", value: "Bearer \(anna.client.token)")
                if let range { request.headers.add(name: "Range", value: range) }
                return try await HTTPClient.shared.execute(request, timeout: .seconds(300))
            }
            let unread = try await download()
            #expect(unread.status == .ok)
            #expect(gate.answersUnderWay == 256 << 10)
            // An address has a quarter.
            let refused = try await download()
            #expect(refused.status == .serviceUnavailable)
            _ = try await refused.body.collect(upTo: 1 << 20)
            let small = try await download("bytes=0-99")
            #expect(small.status == .partialContent)
            #expect(try await small.body.collect(upTo: 1 << 20).readableBytes == 100)
            try await waitUntil("it is cut") {
                instants.advance(seconds: 144)
                transfers.cutSlow()
                return gate.answersUnderWay == 0
            }
            #expect(transfers.count == 0)
            // One that is read has as long as it takes. (What the sockets hold is read within one chunk's time.)
            let read = try await download()
            #expect(read.status == .ok)
            var count = 0
            for try await part in read.body {
                count += part.readableBytes
                if count % (1 << 20) < part.readableBytes { instants.advance(seconds: 5) }
            }
            #expect(count == 32 << 20)
            try await waitUntil("its room is given back") { gate.answersUnderWay == 0 && transfers.count == 0 }
            withExtendedLifetime(unread) {}
        }
        #expect(!log.lines.contains { $0.contains("request failed") }, "a client that takes nothing is no failure")
    }

    /// By the defaults: as many as a page of pictures asks for at once, from several addresses.
    @Test func strangersHaveRoomForDownloads() throws {
        let limits = ServerLimits()
        let gate = LoadGate(requests: limits.requestsInFlight, bytes: limits.bytesInFlight)
        var held: [LoadGate.Hold] = []
        for address in UInt8(0)..<4 {
            for _ in 0..<60 {
                let pass = try gate.enter([address])
                try pass.countAsStranger()
                held.append(try pass.hold(answer: BlobContent.mostHeld(of: 2 << 20), isDone: false))
            }
        }
        #expect(held.count == 240)
    }

    /// Nobody sees an answer's bytes being taken: it has its time by its length.
    @Test func anAnswerThatNobodyTakesIsCut() {
        let pace = TransferPace.answer(bytes: 1 << 20)
        #expect(!pace.isTooSlow(0, after: .seconds(143)))
        #expect(pace.isTooSlow(0, after: .seconds(144)))
        #expect(!TransferPace.chunk.isTooSlow(0, after: .seconds(143)))
        #expect(TransferPace.chunk.isTooSlow(0, after: .seconds(144)))
        #expect(!TransferPace.message.isTooSlow(16 << 10, after: .seconds(16)))
        #expect(TransferPace.message.isTooSlow((16 << 10) - 1, after: .seconds(16)))
        #expect(!TransferPace.asset.isTooSlow(1 << 40, after: .seconds(1 << 20)))
    }
}
