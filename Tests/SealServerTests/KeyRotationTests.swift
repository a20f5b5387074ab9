import Foundation
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// New login keys, and the recovery bundles that go with them.
@Suite(.timeLimit(.minutes(60))) struct KeyRotationTests {
    private func request(
        from former: TestClient, to new: TestClient, signer: SigningKey? = nil, origin: String? = nil,
        recovery: [Sealkit_V1_RecoveryBundle] = []
    ) async throws -> Sealkit_V1_RotateKeysRequest {
        let signed = Challenges.loginRotation(origin: origin ?? new.server.origin, newKey: new.loginKey.verificationKey)
        let login = try await new.loginRequest()
        return .with {
            $0.login = login
            $0.formerLoginKey = Data(former.loginKey.verificationKey.bytes)
            $0.formerSignature = Data((signer ?? former.loginKey).sign(signed))
            $0.recovery = recovery
        }
    }

    private func rotate(_ client: TestClient, _ request: Sealkit_V1_RotateKeysRequest) async throws
        -> Sealkit_V1_SessionResponse
    {
        try await client.call("/1/accounts/rotate", request, as: Sealkit_V1_SessionResponse.self, token: "")
    }

    private func bundle(_ id: UInt8, _ kind: UInt32 = 0, _ sealed: String = "sealed") -> Sealkit_V1_RecoveryBundle {
        .with {
            $0.recoveryID = Data(repeating: id, count: 16)
            $0.sealed = Data(sealed.utf8)
            $0.kind = kind
        }
    }

    private func recover(_ id: UInt8, from server: RunningServer) async throws -> Data {
        try await TestClient(server).call(
            "/1/accounts/recover", Sealkit_V1_RecoverRequest.with { $0.recoveryID = Data(repeating: id, count: 16) },
            as: Sealkit_V1_RecoverResponse.self
        ).sealed
    }

    private func kinds(_ client: TestClient) async throws -> [UInt32] {
        try await client.call(
            "/1/accounts/recovery/list", Sealkit_V1_RecoveryBundlesRequest(),
            as: Sealkit_V1_RecoveryBundlesResponse.self
        ).bundles.map(\.kind)
    }

    private func delete(_ kind: UInt32, _ client: TestClient) async throws {
        _ = try await client.call(
            "/1/accounts/recovery/delete", Sealkit_V1_DeleteRecoveryBundleRequest.with { $0.kind = kind },
            as: Sealkit_V1_AccountResponse.self)
    }

    @Test func aNewKeyTakesThePlaceOfTheOldAndEndsEverySession() async throws {
        try await RunningServer.with { server in
            var client = try TestClient(server)
            let account = try await client.create(recovery: bundle(1)).account
            client.token = try await client.login().token
            let second = try await client.login().token
            _ = try await client.me(token: second)
            var new = try TestClient(server)
            let sent = try await request(from: client, to: new, recovery: [bundle(2), bundle(3, 2)])
            let answer = try await rotate(new, sent)
            #expect(answer.account == account)
            // At once, also what the server remembered.
            for token in [client.token, second] {
                let old = client
                try await expectRefusal(.sessionExpired) { try await old.me(token: token) }
            }
            let old = client
            try await expectRefusal(.keysReplaced, "the old key logs in no more") { try await old.login() }
            try await expectRefusal(.keysReplaced, "nor makes an account") { try await old.create() }
            new.token = answer.token
            #expect(try await new.me().account == account)
            // The old bundle is gone, the new ones are there.
            try await expectRefusal(.unknownItem) { try await recover(1, from: server) }
            #expect(try await recover(2, from: server) == Data("sealed".utf8))
            #expect(try await kinds(new) == [1, 2])
            // The same again, after a lost answer, is one more login; the bundles are those that its user was shown
            // last.
            let again = try await rotate(new, try await request(from: client, to: new, recovery: [bundle(4)]))
            #expect(again.account == account)
            #expect(again.token != answer.token)
            #expect(try await kinds(new) == [1])
            #expect(try await recover(4, from: server) == Data("sealed".utf8))
            try await expectRefusal(.unknownItem) { try await recover(2, from: server) }
            #expect(try await new.me().account == account)
        }
    }

    @Test func twoDevicesAtOnceOneWinsAndTheOtherIsTold() async throws {
        try await RunningServer.with { server in
            let client = try TestClient(server)
            _ = try await client.create()
            let (one, other) = (try TestClient(server), try TestClient(server))
            let requests = [
                (one, try await request(from: client, to: one)), (other, try await request(from: client, to: other)),
            ]
            let outcomes = try await withThrowingTaskGroup(of: ErrorCode?.self) { group in
                for (new, sent) in requests { group.addTask { try await refusal { try await rotate(new, sent) } } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count == 2)
            #expect(Set(outcomes) == [nil, .keysReplaced])
            var logins: [ErrorCode?] = []
            for new in [one, other] { logins.append(try await refusal { try await new.login() }) }
            #expect(Set(logins) == [nil, .unknownItem])
        }
    }

    @Test func rotationsThatAreRefused() async throws {
        try await RunningServer.with { server in
            var client = try TestClient(server)
            client.token = try await client.create(recovery: bundle(1)).token
            let (new, stranger) = (try TestClient(server), try TestClient(server))
            let owner = client
            var unsigned = try await request(from: owner, to: new)
            unsigned.formerSignature[3] ^= 1
            var noKey = try await request(from: owner, to: new)
            noKey.formerLoginKey = Data(repeating: 0, count: 32)
            var nobody = try await request(from: owner, to: new)
            nobody.login.signature[3] ^= 1
            let refused: [(String, ErrorCode, Sealkit_V1_RotateKeysRequest)] = [
                (
                    "signed by somebody else", .notAuthenticated,
                    try await request(from: owner, to: new, signer: stranger.loginKey)
                ),
                (
                    "signed by the new key", .notAuthenticated,
                    try await request(from: owner, to: new, signer: new.loginKey)
                ),
                (
                    "for another server", .notAuthenticated,
                    try await request(from: owner, to: new, origin: "https://evil.example")
                ),
                ("an altered signature", .notAuthenticated, unsigned),
                ("no key", .invalidArguments, noKey),
                ("a new key that signs nothing", .notAuthenticated, nobody),
                ("a key without an account", .unknownItem, try await request(from: stranger, to: new)),
                ("the same key", .serverRejectedRequest, try await request(from: owner, to: owner)),
                (
                    "two of a kind", .invalidArguments,
                    try await request(from: owner, to: new, recovery: [bundle(2), bundle(3, 1)])
                ),
                (
                    "four bundles", .invalidArguments,
                    try await request(from: owner, to: new, recovery: (2..<6).map { bundle($0, UInt32($0 % 2)) })
                ),
                (
                    "an unknown kind", .invalidArguments,
                    try await request(from: owner, to: new, recovery: [bundle(2, 9)])
                ),
                (
                    "an empty bundle", .invalidArguments,
                    try await request(from: owner, to: new, recovery: [bundle(2, 1, "")])
                ),
            ]
            for (name, code, sent) in refused {
                try await expectRefusal(code, "\(name)") { try await rotate(new, sent) }
            }
            // A challenge serves once.
            let sent = try await request(from: owner, to: new)
            _ = try await rotate(new, sent)
            try await expectRefusal(.notAuthenticated, "replayed") { try await rotate(new, sent) }
            // Another's account is nobody's to bring one's own key into.
            _ = try await stranger.create()
            let taking = try await request(from: stranger, to: new)
            try await expectRefusal(.serverRejectedRequest, "another's key") { try await rotate(new, taking) }
            let back = try await request(from: new, to: owner)
            try await expectRefusal(.serverRejectedRequest, "a key that was in use") { try await rotate(owner, back) }
            // Once the account is deleted nobody has its keys any more, and nobody gets them.
            _ = try await AccountDeletionTests().delete(new)
            try await expectRefusal(.unknownItem, "left behind") { try await owner.login() }
            let gone = try await request(from: stranger, to: owner)
            try await expectRefusal(.serverRejectedRequest, "a deleted account's key") { try await rotate(owner, gone) }
        }
    }

    @Test func aRefusedBundleLeavesEverythingAsItWas() async throws {
        try await RunningServer.with { server in
            var client = try TestClient(server)
            client.token = try await client.create(recovery: bundle(1)).token
            let other = try TestClient(server)
            _ = try await other.create(recovery: bundle(9))
            let new = try TestClient(server)
            let sent = try await request(from: client, to: new, recovery: [bundle(2, 2), bundle(9)])
            // Which code nothing before the server answers with: the client knows that nothing has changed.
            try await expectRefusal(.constraintViolation) { try await rotate(new, sent) }
            let owner = client
            #expect(try await owner.me().account.count == 32)
            #expect(try await recover(1, from: server) == Data("sealed".utf8))
            try await expectRefusal(.unknownItem) { try await new.login() }
        }
    }

    /// Whoever had the old key may have set up what goes on by itself, without a session.
    @Test func noServerKeyAndNoWebhookOutlivesNewKeys() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
                let zone = try await anna.makeZone()
                let (key, other) = (
                    try await ServerKeyClient.ready(by: anna), try await ServerKeyClient.ready(by: bert)
                )
                var subscription = Sealkit_V1_Subscription.query("hook", desiredKeys: ["pinned"])
                subscription.webhook = receiver.origin + "/notes"
                let hook = subscription
                for database in ["private", "public"] { try await anna.subscribe(hook, in: database) }
                try await bert.subscribe(hook, in: "public")

                let client = try TestClient(server)
                let begun = try await rotate(client, try await request(from: anna.client, to: client))
                var renewed = anna
                renewed.client = client
                renewed.client.token = begun.token
                let after = renewed
                let lookup = Sealkit_V1_LookupRecordsRequest.with { $0.recordNames = ["a"] }
                func code(_ key: ServerKeyClient) async throws -> ErrorCode? {
                    try await key.send(try key.call(Person.publicPath("records/lookup"), lookup)).code
                }
                #expect(try await code(key) == .notAuthenticated)
                #expect(try await after.serverKeys().isEmpty)
                let left = try await server.services.database.read { connection in
                    try connection.rows("SELECT owner FROM webhook") { try $0.int64("owner") }
                }
                #expect(left.count == 1, "another account's alone")
                #expect(try await code(other) == nil)
                // What was subscribed to stays, for the account's devices.
                for database in ["private", "public"] {
                    #expect(try await after.subscriptions(in: database).map(\.webhook) == [""])
                }
                let stream = try await after.listen()
                _ = try await after.onAnotherDevice().save([Write("a")], in: zone)
                #expect(try await stream.notification().subscriptionID == "hook")
                #expect(receiver.count == 0)
                // One's own are made again, and the same rotation once more, after a lost answer, leaves them.
                try await after.subscribe(hook)
                _ = try await rotate(client, try await request(from: anna.client, to: client))
                #expect(try await after.subscriptions().map(\.webhook) == [hook.webhook])
            }
        }
    }

    /// However many they are: nobody writes anything while an account gets new keys.
    @Test func endingWebhooksTakesNoStatementForEach() async throws {
        let seen = Mutex(0)
        let counter = StatementCounter { sql, _ in
            if sql.contains("UPDATE subscription") { seen.withLock { $0 += 1 } }
        }
        let origin = "https://hooks.example.org"
        try await RunningServer.with(counter: counter, webhookOrigins: [origin]) { server in
            func statements(for count: Int) async throws -> Int {
                let person = try await Person.ready(server)
                let hooks = (0..<count).map { number in
                    var hook = Sealkit_V1_Subscription.database("hook\(number)")
                    hook.webhook = "\(origin)/\(number)"
                    return hook
                }
                #expect(try await person.modifySubscriptions(saving: hooks).count == count)
                #expect(try await person.subscriptions().allSatisfy { !$0.webhook.isEmpty })
                let client = try TestClient(server)
                let sent = try await request(from: person.client, to: client)
                let before = seen.withLock { $0 }
                var renewed = person
                renewed.client = client
                renewed.client.token = try await rotate(client, sent).token
                let statements = seen.withLock { $0 } - before
                let after = renewed
                #expect(try await after.subscriptions().filter(\.webhook.isEmpty).count == count)
                return statements
            }
            let few = try await statements(for: 5)
            let many = try await statements(for: 40)
            #expect(few == many)
        }
    }

    @Test func bundlesOfTwoKindsComeAndGoByThemselves() async throws {
        try await RunningServer.with { server in
            var client = try TestClient(server)
            client.token = try await client.create(recovery: bundle(1)).token
            let owner = client
            func save(_ bundle: Sealkit_V1_RecoveryBundle) async throws {
                _ = try await owner.call("/1/accounts/recovery", bundle, as: Sealkit_V1_AccountResponse.self)
            }
            try await save(bundle(2, 2, "by passphrase"))
            #expect(try await kinds(owner) == [1, 2])
            try await save(bundle(3, 2, "by another"))
            try await expectRefusal(.unknownItem) { try await recover(2, from: server) }
            #expect(try await recover(1, from: server) == Data("sealed".utf8))
            try await expectRefusal(.serverRejectedRequest, "one id, two kinds") { try await save(bundle(1, 2)) }
            #expect(try await recover(3, from: server) == Data("by another".utf8))
            try await delete(2, owner)
            try await delete(2, owner)
            try await expectRefusal(.unknownItem) { try await recover(3, from: server) }
            #expect(try await kinds(owner) == [1])
            try await expectRefusal(.invalidArguments) { try await delete(7, owner) }
            try await expectRefusal(.invalidArguments) { try await save(bundle(4, 4)) }
        }
    }
}
