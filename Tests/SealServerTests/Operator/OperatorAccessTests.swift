import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealLab
import SealPrimitives
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Who gets in on the operator's listener, and where it is.
@Suite(.timeLimit(.minutes(60))) struct OperatorAccessTests {
    private static let routes = Endpoints.operatorFamily.routes

    private static func file(_ folder: TemporaryFolder) -> String {
        folder.file("data.secrets/" + OperatorToken.fileName)
    }

    @Test(
        "Somebody without the operator's token, or with it elsewhere, does what the operator does: refused, everywhere."
    )
    func attack95_theOperatorsTokenAndNoOther() async throws {
        let log = LogCapture()
        var limits = AbuseLimits()
        limits.operatorTry = .init(count: 10_000, window: 60_000_000)
        try await RunningServer.with(limits: limits, logger: log.logger, hasOperator: true) { server in
            let anna = try await Person.ready(server)
            let boss = try OperatorClient(server)
            let management = try Management(server).token
            let last = boss.token.last == "A" ? "E" : "A"
            let wrong = [
                "", "canary", anna.client.token, management, OperatorToken.prefix,
                OperatorToken.prefix + Base64URL.encode(randomBytes(32)), String(boss.token.dropLast()) + last,
                boss.token + "A", boss.token.uppercased(),
                ManagementTokens.prefix + boss.token.dropFirst(OperatorToken.prefix.count),
            ]
            for route in Self.routes {
                for token in wrong {
                    let client = RefusalClient(origin: server.operatorListener, token: token)
                    let answer = try await client.send(
                        "POST", route.template, type: RefusalClient.protobuf, bytes: [UInt8]())
                    RefusalClient.check(answer, 401, .notAuthenticated, route.name)
                }
                // On the listener of clients there is no such path, whatever token comes along.
                for token in ["", boss.token, anna.client.token] {
                    let client = RefusalClient(origin: server.origin, token: token)
                    let answer = try await client.send(
                        "POST", route.template, type: RefusalClient.protobuf, bytes: [UInt8]())
                    RefusalClient.check(answer, 404, .invalidArguments, route.name)
                }
            }
            // In other headers, or in the path.
            for (name, value) in [
                ("X-SealKit-Token", boss.token), ("Authorization", boss.token),
                ("Authorization", "Basic \(boss.token)"), ("Cookie", "token=\(boss.token)"),
                ("Proxy-Authorization", "Bearer \(boss.token)"),
            ] {
                var request = HTTPClientRequest(url: server.operatorListener + "/1/operator/usage?token=\(boss.token)")
                request.method = .POST
                request.headers.add(name: "Content-Type", value: RefusalClient.protobuf)
                request.headers.add(name: name, value: value)
                let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
                #expect(answer.status == .unauthorized, "\(name)")
            }
            // The operator's token is no session, and manages no container.
            try await expectRefusal(.sessionExpired) { try await anna.client.me(token: boss.token) }
            var manager = try Management(server)
            manager.token = boss.token
            let other = manager
            try await expectRefusal(.notAuthenticated) { try await other.export() }
            // Nothing was done, and nothing else is there.
            #expect(try await boss.usage().accounts == 1)
            for path in ["/", "/health", "/metrics", "/1/limits", "/1/accounts/me"] {
                let client = RefusalClient(origin: server.operatorListener, token: boss.token)
                #expect(try await client.send("GET", path).status == 404, "\(path)")
            }
            let told = log.lines.filter { $0.contains(boss.token) || $0.contains("canary") }
            #expect(told == [])
            let refused = log.lines.filter { $0.contains("operator's listener was refused") && $0.contains("none") }
            #expect(!refused.isEmpty)
            AttackOutcome.refused("notAuthenticated")
        }
    }

    /// Others are told no more after some tries, and fill no log; whoever has the token is let in all the same.
    @Test func triesAreCountedAndLockNobodyOut() async throws {
        let log = LogCapture()
        try await RunningServer.with(logger: log.logger, showsMetrics: true, hasOperator: true) { server in
            let boss = try OperatorClient(server)
            var thief = boss
            thief.token = OperatorToken.prefix + Base64URL.encode(randomBytes(32))
            let stranger = thief
            var codes: [ErrorCode?] = []
            for _ in 0..<15 { codes.append(try await refusal { try await stranger.usage() }) }
            let expected: [ErrorCode?] =
                Array(repeating: .notAuthenticated, count: 10) + Array(repeating: .requestRateLimited, count: 5)
            #expect(codes == expected)
            let refused = log.lines.filter { $0.contains("operator's listener was refused") }
            #expect(refused.count == 10)
            let told = log.lines.filter { $0.contains(stranger.token) }
            #expect(told == [])
            #expect(try await boss.usage().accounts == 0)
            let metrics = try await ServerTests().send("GET", server.metrics + "/metrics")
            let text = String(decoding: metrics.body, as: UTF8.self)
            #expect(text.contains("sealkit_operator_actions_total{action=\"refused\"} 15\n"))
            #expect(text.contains("sealkit_operator_actions_total{action=\"usage\"} 1\n"))
            server.clock.advance(seconds: 61)
            try await expectRefusal(.notAuthenticated) { try await stranger.usage() }
        }
    }

    @Test func theTokenLiesInTheSecretsFolder() async throws {
        let folder = TemporaryFolder()
        try await RunningServer.with(folder: folder, hasOperator: true) { server in
            let boss = try OperatorClient(server)
            _ = try await boss.usage()
            let secret = Array(boss.token.utf8.dropFirst(OperatorToken.prefix.utf8.count))
            #expect(!(try server.storedBytes()).contains(bytes: secret))
        }
        let file = Self.file(folder)
        let first = try String(contentsOfFile: file, encoding: .utf8)
        #expect(first.hasPrefix(OperatorToken.prefix))
        #expect(first.utf8.count == OperatorToken.prefix.utf8.count + 43 + 1)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // The same after the next start; what others may read is not used.
        _ = try ServerSecrets(folder: folder.file("data.secrets"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == first)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        #expect(throws: SecretFileError.readableByOthers(path: file)) {
            try ServerSecrets(folder: folder.file("data.secrets"))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try Data("sealkit-operator-short\n".utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: SecretFileError.malformedToken(path: file)) {
            try ServerSecrets(folder: folder.file("data.secrets"))
        }
        try FileManager.default.removeItem(atPath: file)
        _ = try ServerSecrets(folder: folder.file("data.secrets"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) != first)
    }

    @Test func withoutTheSettingThereIsNoListener() async throws {
        let folder = TemporaryFolder()
        try await RunningServer.with(folder: folder) { server in
            #expect(throws: OperatorPlaceError.noListener(folder: folder.file("data"), processID: getpid())) {
                try OperatorPlace.url(dataFolder: folder.file("data"))
            }
            let answer = try await RefusalClient(origin: server.origin).send("POST", "/1/operator/usage")
            #expect(answer.status == 404)
        }
    }

    /// Commands on the machine find the listener while it listens, and never another program that has its port since.
    @Test func thePlaceIsTheServersAsLongAsItListens() async throws {
        let folder = TemporaryFolder()
        let data = folder.file("data")
        #expect(throws: OperatorPlaceError.noServer(folder: data)) { try OperatorPlace.url(dataFolder: data) }
        try await RunningServer.with(folder: folder, hasOperator: true) { server in
            #expect(try OperatorPlace.url(dataFolder: data) == server.operatorListener)
            let file = try FileManager.default.attributesOfItem(atPath: data + "/operator.url")
            #expect(file[.posixPermissions] as? Int == 0o600)
        }
        #expect(!FileManager.default.fileExists(atPath: data + "/operator.url"))
        // What a server that was killed has left.
        try Data("http://127.0.0.1:1\n".utf8).write(to: URL(fileURLWithPath: data + "/operator.url"))
        #expect(throws: OperatorPlaceError.noServer(folder: data)) { try OperatorPlace.url(dataFolder: data) }
        try await RunningServer.with(folder: folder, hasOperator: true) { server in
            let found = try OperatorPlace.url(dataFolder: data)
            #expect(found == server.operatorListener)
        }
    }

    @Test func onANetworkItSpeaksTLSOrNotAtAll() throws {
        var configuration = ServerConfiguration(dataFolder: "/tmp/none")
        for address in ["127.0.0.1:8090", "[::1]:8090", "localhost:8090"] {
            configuration.operator = ListenAddress(address)
            #expect(throws: Never.self) { try configuration.validate() }
        }
        configuration.operator = ListenAddress("0.0.0.0:8090")
        #expect(throws: ConfigurationError.unprotectedOperator(address: "0.0.0.0:8090")) {
            try configuration.validate()
        }
        // A proxy in front of clients' listener is in front of that one.
        configuration.isBehindProxy = true
        configuration.publicOrigin = "https://notes.example.org"
        #expect(throws: ConfigurationError.unprotectedOperator(address: "0.0.0.0:8090")) {
            try configuration.validate()
        }
        configuration.tls = .init(certificate: "c", key: "k")
        #expect(throws: Never.self) { try configuration.validate() }
        configuration.operator = configuration.listen
        #expect(throws: ConfigurationError.self) { try configuration.validate() }
        configuration.metrics = ListenAddress("127.0.0.1:9090")
        configuration.operator = configuration.metrics
        #expect(throws: ConfigurationError.self) { try configuration.validate() }
    }

    /// On an address that others reach it has the server's certificate, and plain HTTP gets no answer.
    @Test func onOtherAddressesItSpeaksTLS() async throws {
        let folder = TemporaryFolder()
        let files = ServerConfiguration.TLSFiles(certificate: folder.file("c.pem"), key: folder.file("c.key"))
        let made = try await Command.finished(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=notes.example.org", "-addext", "subjectAltName=DNS:notes.example.org",
                "-out", files.certificate, "-keyout", files.key,
            ])
        #expect(made.status == 0, "\(made.errors)")
        let (addresses, continuation) = AsyncStream<ListenAddress>.makeStream()
        let server = try await SealServer.Server(
            configuration: ServerConfiguration(
                dataFolder: folder.file("data"), listen: ListenAddress(host: "127.0.0.1", port: 0),
                publicOrigin: "https://notes.example.org", tls: files, logLevel: .critical,
                operator: ListenAddress(host: "0.0.0.0", port: 0)),
            replacing: ServiceReplacements(onOperator: { continuation.yield($0) }), onRunning: { _ in },
            addRoutes: { _, _ in })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            for await address in addresses {
                do {
                    let place = try OperatorPlace.url(dataFolder: folder.file("data"))
                    #expect(place == "https://notes.example.org:\(address.port)")
                    let token = try String(contentsOfFile: Self.file(folder), encoding: .utf8).dropLast()
                    func curl(_ scheme: String, _ words: String...) async throws -> Command {
                        try await Command.finished(
                            URL(fileURLWithPath: "/usr/bin/curl"),
                            words + [
                                "-sS", "--max-time", "20", "--connect-to", "::127.0.0.1:\(address.port)",
                                "-H", "Content-Type: application/json", "-H", "Authorization: Bearer \(token)",
                                "-d", "{}",
                                "\(scheme)://notes.example.org:\(address.port)\(Endpoints.operator.usage.route.template)",
                            ])
                    }
                    let good = try await curl("https", "--cacert", files.certificate)
                    #expect(good.status == 0, "\(good.errors)")
                    #expect(good.output.contains("{"), "\(good.output)")
                    // Whoever trusts others only, and whoever comes without TLS.
                    #expect(try await curl("https").status == 60)
                    #expect(try await curl("http").status != 0)
                } catch {
                    await server.shutDown()
                    throw error
                }
                break
            }
            await server.shutDown()
            try await group.waitForAll()
        }
    }

    /// Wrong methods, types, bodies and sizes, as on the other listener.
    @Test func whatIsMalformedIsRefused() async throws {
        try await RunningServer.with(hasOperator: true) { server in
            let boss = try OperatorClient(server)
            let client = RefusalClient(origin: server.operatorListener, token: boss.token)
            for route in Self.routes {
                RefusalClient.check(try await client.send("GET", route.template), 405, .invalidArguments, route.name)
                RefusalClient.check(
                    try await client.send("POST", route.template, type: "text/plain", bytes: Array("canary".utf8)), 400,
                    .invalidArguments, route.name)
                RefusalClient.check(
                    try await client.send(
                        "POST", route.template, type: RefusalClient.protobuf, bytes: [0x0a, 0xff, 0xff]), 400,
                    .invalidArguments, route.name)
                RefusalClient.check(
                    try await client.send(
                        "POST", route.template, type: RefusalClient.protobuf,
                        bytes: [UInt8](repeating: 0, count: OperatorMiddleware.largestMessage + 1)), 413,
                    .limitExceeded, route.name)
            }
        }
    }
}
