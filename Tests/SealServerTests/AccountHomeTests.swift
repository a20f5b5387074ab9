import SealPrimitives
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Where what is an account's alone is at home.
@Suite(.timeLimit(.minutes(60))) struct AccountHomeTests {
    @Test func whoLogsInHasTheirAccountAlone() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            var client = try await TestClient.ready(server)
            let account = try await server.count("SELECT account AS n FROM identity")
            _ = hook.takeHomes()
            client.token = try await client.login().token
            #expect(hook.takeHomes() == [.account(account)])
            let device = try #require(try await client.devices().devices.first)
            _ = try await client.revoke(try ID16(device.id))
            #expect(hook.takeHomes() == [.account(account)])
            // Whoever has none uses the challenge up, and holds up nobody.
            let stranger = try TestClient(server)
            let code = try await refusal { try await stranger.login() }
            #expect(code == .unknownItem)
            let homes = hook.takeHomes()
            let entries = homes.filter { if case .entry = $0 { true } else { false } }
            #expect(!homes.isEmpty)
            #expect(entries == homes)
        }
    }
}

/// The same where two write at once.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresAccountTests {
    @Test func whoLogsInWaitsForTheirAccountAlone() async throws {
        try await RunningServer.onPostgres { server, address in
            let client = try await TestClient.ready(server)
            let account = try await server.count("SELECT account AS n FROM identity")
            try await OpenWrite(address).expect(goesOn: true) {
                _ = try await client.login()
                let stranger = try TestClient(server)
                let code = try await refusal { try await stranger.login() }
                #expect(code == .unknownItem)
            }
            try await OpenWrite(address, beside: [.account(account)]).expect(goesOn: false) {
                _ = try await client.login()
            }
            try await OpenWrite(address, beside: [.bill(account)]).expect(goesOn: false) {
                _ = try await client.login()
            }
        }
    }

    /// One challenge lets in once, at whichever homes those are who bring it.
    @Test func aChallengeThatSomebodyIsUsingUpIsWaitedFor() async throws {
        try await RunningServer.onPostgres { server, address in
            let client = try await TestClient.ready(server)
            let request = try await client.loginRequest()
            let challenge = [UInt8](request.challenge)
            let now = server.clock.now
            let write = try OpenWrite(address, at: LoginChallenges.home(of: challenge)) { connection in
                let isFirst = try LoginChallenges.spend(challenge, now: now, in: connection)
                #expect(isFirst)
            }
            try await write.expect(goesOn: false) {
                let code = try await refusal { try await client.login(request) }
                #expect(code == .notAuthenticated)
            }
        }
    }
}
