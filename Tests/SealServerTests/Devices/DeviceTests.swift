import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// An account's devices: who is listed, what they are called, and what ends with one that is revoked.
@Suite(.timeLimit(.minutes(60))) struct ServerDeviceTests {
    @Test func aDeviceIsListedByItsOwnStatement() async throws {
        try await RunningServer.with { server in
            var phone = try TestClient(server)
            let created = try await phone.create()
            phone.token = created.token
            let first = created.devices.revision
            #expect(first == UInt64(server.clock.now))
            #expect(created.devices.devices.map(\.id) == [Data(phone.device.bytes)])
            var desk = phone.onAnotherDevice("Bob's desk ü")
            let login = try await desk.login()
            desk.token = login.token
            #expect(login.devices.revision == first + 1)
            let list = try await phone.devices()
            #expect(list == login.devices)
            #expect(list.devices.map(\.name) == ["test", "Bob's desk ü"])
            for device in list.devices {
                let signed = Challenges.device(try ID16(device.id), name: device.name, added: device.added)
                try phone.loginKey.verificationKey.verify([UInt8](device.signature), over: signed)
                #expect(device.lastSeen == server.clock.now)
            }
            // Logging in again is no news, and nothing is sent to who knows the list.
            var again = try await desk.loginRequest()
            again.knownDevices = first + 1
            let known = try await desk.login(again)
            #expect(!known.hasDevices)
            #expect(try await desk.devices().revision == first + 1)
            // Another account has its own.
            let carol = try await TestClient.ready(server)
            #expect(try await carol.devices().devices.map(\.id) == [Data(carol.device.bytes)])
        }
    }

    @Test func everyAnswerNamesTheListsRevision() async throws {
        try await RunningServer.with { server in
            var phone = try TestClient(server)
            phone.token = try await phone.create().token
            let (origin, token) = (server.origin, phone.token)
            @Sendable func header() async throws -> String? {
                var request = HTTPClientRequest(url: origin + "/1/accounts/me")
                request.headers.add(name: "Authorization", value: "Bearer \(token)")
                return try await HTTPClient.shared.execute(request, timeout: .seconds(300)).headers.first(
                    name: "sealkit-devices")
            }
            let first = server.clock.now
            #expect(try await header() == "\(first)")
            let desk = phone.onAnotherDevice()
            _ = try await desk.login()
            // At once, though a session is remembered for some seconds.
            #expect(try await header() == "\(first + 1)")
            _ = try await desk.login()
            #expect(try await header() == "\(first + 1)")
            try await phone.name(desk.device, "desk")
            #expect(try await header() == "\(first + 2)")
            try await phone.revoke(desk.device)
            #expect(try await header() == "\(first + 3)")
        }
    }

    @Test func statementsThatDoNotHoldAreRefused() async throws {
        try await RunningServer.with { server in
            let phone = try TestClient(server)
            _ = try await phone.create()
            let stranger = try TestClient.newKey()
            let changes: [(String, ErrorCode, @Sendable (inout Sealkit_V1_LoginRequest) -> Void)] = [
                ("no device", .invalidArguments, { $0.deviceID = Data() }),
                ("another id", .notAuthenticated, { $0.deviceID = Data(repeating: 1, count: 16) }),
                ("another name", .notAuthenticated, { $0.deviceName = "other" }),
                ("another time", .notAuthenticated, { $0.deviceAdded = 2 }),
                ("no signature", .notAuthenticated, { $0.deviceSignature = Data() }),
                (
                    "another key", .notAuthenticated,
                    {
                        $0.deviceSignature = Data(
                            stranger.sign(Challenges.device(phone.device, name: "test", added: 1)))
                    }
                ),
            ]
            for (what, code, change) in changes {
                var request = try await phone.loginRequest()
                change(&request)
                let sent = request
                let found = try await refusal { try await phone.login(sent) }
                #expect(found == code, "\(what)")
            }
            var ready = phone
            ready.token = try await phone.login().token
            #expect(try await ready.devices().devices.count == 1)
        }
    }

    @Test func anyDeviceNamesAnyOther() async throws {
        try await RunningServer.with { server in
            var phone = try TestClient(server)
            phone.token = try await phone.create().token
            var desk = phone.onAnotherDevice()
            desk.token = try await desk.login().token
            let ready = desk
            #expect(try await phone.name(ready.device, "the old desk").devices.map(\.name) == ["test", "the old desk"])
            // It keeps the name when it logs in by its own.
            _ = try await ready.login()
            #expect(try await phone.devices().devices.map(\.name) == ["test", "the old desk"])
            let carol = try await TestClient.ready(server)
            let mine = phone
            try await expectRefusal(.unknownItem, "of another account") { try await carol.name(ready.device, "hers") }
            try await expectRefusal(.unknownItem, "of nobody") { try await mine.name(.random(), "nobody's") }
            try await expectRefusal(.unknownItem, "added at another time") {
                try await mine.name(ready.device, "x", added: 2)
            }
            try await expectRefusal(.notAuthenticated) {
                try await mine.name(ready.device, "x", signer: carol.loginKey)
            }
            #expect(try await phone.devices().devices.map(\.name) == ["test", "the old desk"])
        }
    }

    @Test func aRevokedDevicesSessionsEndAtOnceAndItDoesNotGetInAgain() async throws {
        try await RunningServer.with { server in
            var phone = try TestClient(server)
            phone.token = try await phone.create().token
            var desk = phone.onAnotherDevice()
            desk.token = try await desk.login().token
            var process = desk
            process.token = try await desk.login().token
            // Remembered from now on.
            for client in [phone, desk, process] { _ = try await client.me() }
            let carol = try await TestClient.ready(server)
            let (mine, gone, other) = (phone, desk, process)
            try await expectRefusal(.unknownItem, "another account's") { try await carol.revoke(gone.device) }
            let left = try await mine.revoke(gone.device)
            #expect(left.devices.map(\.id) == [Data(mine.device.bytes)])
            #expect(left.revision == UInt64(server.clock.now) + 2)
            for client in [gone, other] { try await expectRefusal(.sessionExpired) { try await client.me() } }
            try await expectRefusal(.permissionFailure) { try await gone.login() }
            try await expectRefusal(.permissionFailure) { try await gone.create() }
            #expect(try await mine.me().account.count == 32)
            // Once more changes nothing; of another id it is another device, which shows.
            #expect(try await mine.revoke(gone.device) == left)
            _ = try await gone.onAnotherDevice("back").login()
            #expect(try await mine.devices().devices.map(\.name) == ["test", "back"])
            // One's own as well.
            _ = try await mine.revoke(mine.device)
            try await expectRefusal(.sessionExpired) { try await mine.me() }
        }
    }

    @Test func itsEventStreamsEndAtOnce() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            var client = phone.client.onAnotherDevice()
            client.token = try await client.login().token
            let desk = Person(client: client, keys: phone.keys, chain: phone.chain)
            let streams = [try await desk.listen(), try await desk.listen()]
            let kept = try await phone.listen()
            try await phone.client.revoke(client.device)
            for stream in streams {
                let last = try await stream.next()
                #expect(try last.name == "end" && last.failure.errorCode == .sessionExpired)
                #expect(try await stream.hasEnded())
            }
            // The others go on.
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            var third = phone.client.onAnotherDevice()
            third.token = try await third.login().token
            _ = try await Person(client: third, keys: phone.keys, chain: phone.chain).save([Write("a")], in: zone)
            #expect(try await kept.next().name == "notification")
        }
    }

    /// The request as a whole arrives at the server part by part, and the device is revoked between two.
    @Test func itsUploadsEndAtOnce() async throws {
        try await AssetTests().withZone { phone, zone, server in
            var client = phone.client.onAnotherDevice()
            client.token = try await client.login().token
            let desk = Person(client: client, keys: phone.keys, chain: phone.chain)
            let revoked = client.device
            for isRevoked in [false, true] {
                let (parts, continuation) = AsyncStream<ByteBuffer>.makeStream()
                let bytes = AssetTests.blob([UInt8](repeating: 1, count: 300_000))
                let part = ByteBuffer(bytes: bytes[..<100_000])
                let id = Hex.encode(randomBytes(16))
                async let answer = AssetTests().send(
                    desk, .PUT, id, in: zone, .stream(parts, length: .known(Int64(300_000))))
                continuation.yield(part)
                try await waitUntil("the upload has begun") {
                    try await server.services.database.read { connection in
                        try connection.exists("SELECT 1 FROM blob WHERE id = $1", [.text(id)])
                    }
                }
                if isRevoked { try await phone.client.revoke(revoked) }
                // The last part never comes: the second is refused.
                continuation.yield(ByteBuffer(bytes: bytes[100_000..<200_000]))
                if !isRevoked { continuation.yield(ByteBuffer(bytes: bytes[200_000...])) }
                let sent = try await answer
                #expect(isRevoked ? sent.code == .sessionExpired && sent.status == 401 : sent.status == 201)
                continuation.finish()
                let isKept = try await server.services.database.read { connection in
                    try connection.exists("SELECT 1 FROM blob WHERE id = $1", [.text(id)])
                }
                #expect(isKept == !isRevoked)
            }
        }
    }

    @Test func aRestoredServerRepeatsNoRevision() async throws {
        try await RestoredServerTests().restored { server in
            var phone = try TestClient(server)
            phone.token = try await phone.create().token
            return phone
        } lost: { server, kept in
            let phone = kept.at(server)
            _ = try await phone.onAnotherDevice("lost").login()
            return try await phone.devices().revision
        } after: { server, kept, lost in
            let phone = kept.at(server)
            var other = try await phone.onAnotherDevice("another").loginRequest()
            other.knownDevices = lost
            // Later, if not by much: a test's clock begins at a whole second.
            server.clock.advance(seconds: 1)
            // As many changes as in the lost future: a client that goes by the number would miss this one.
            let login = try await phone.login(other)
            #expect(login.devices.revision > lost)
            #expect(login.devices.devices.map(\.name) == ["test", "another"])
            // A clock that was set back does not turn it back.
            server.clock.set(1)
            #expect(try await phone.name(phone.device, "renamed").revision == login.devices.revision + 1)
        }
    }

    @Test func whenADeviceWasLastSeenIsKnownToTheHour() async throws {
        try await RunningServer.with { server in
            var phone = try TestClient(server)
            phone.token = try await phone.create().token
            let began = server.clock.now
            server.clock.advance(seconds: 1_800)
            _ = try await phone.me()
            #expect(try await phone.devices().devices[0].lastSeen == began)
            server.clock.advance(seconds: 1_900)
            let now = server.clock.now
            let client = phone
            _ = try await client.me()
            try await waitUntil("it was seen") { try await client.devices().devices[0].lastSeen == now }
        }
    }
}
