import Foundation
import SealPrimitives
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Management tokens and roles.
@Suite(.timeLimit(.minutes(60))) struct ManagementTests {
    private typealias Created = Sealkit_V1_CreateManagementTokenResponse

    private func create(
        _ boss: Management, _ container: String = TestClient.container, name: String = "CI", lifetime: UInt64 = 0
    ) async throws -> Sealkit_V1_CreateManagementTokenResponse {
        try await boss.client.call(
            "/1/management-tokens/create",
            Sealkit_V1_CreateManagementTokenRequest.with {
                ($0.container, $0.name, $0.lifetime) = (container, name, lifetime)
            },
            as: Created.self, token: boss.token)
    }

    private func revoke(_ boss: Management, _ id: String) async throws {
        _ = try await boss.client.call(
            "/1/management-tokens/revoke", Sealkit_V1_RevokeManagementTokenRequest.with { $0.id = id },
            as: Sealkit_V1_RevokeManagementTokenResponse.self, token: boss.token)
    }

    private func list(_ boss: Management, _ container: String = "") async throws -> [Sealkit_V1_ManagementToken] {
        try await boss.client.call(
            "/1/management-tokens/list", Sealkit_V1_ListManagementTokensRequest.with { $0.container = container },
            as: Sealkit_V1_ListManagementTokensResponse.self, token: boss.token
        ).tokens
    }

    @Test func theOperatorsTokenLiesInTheSecretsFolder() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.secrets/management.token")
        try await RunningServer.with(folder: folder) { server in
            _ = try await Management(server).export()
        }
        let first = try String(contentsOfFile: file, encoding: .utf8)
        #expect(first.hasPrefix("sealkit-management-"))
        #expect(first.utf8.count == "sealkit-management-".utf8.count + 44)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try await RunningServer.with(folder: folder) { server in
            _ = try await Management(server).export()
            #expect(try String(contentsOfFile: file, encoding: .utf8) == first)
            #expect(!(try server.storedBytes()).contains(bytes: Array(first.utf8.dropFirst(19).dropLast())))
        }
        // What the server does not start with.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        #expect(throws: SecretFileError.readableByOthers(path: file)) {
            try ServerSecrets(folder: folder.file("data.secrets"))
        }
        for contents in ["", "sealkit-management-short\n", String(first.dropFirst()), "x" + first] {
            try Data(contents.utf8).write(to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            #expect(throws: SecretFileError.malformedToken(path: file)) {
                try ServerSecrets(folder: folder.file("data.secrets"))
            }
        }
        try Data(String(repeating: "x", count: 300).utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: SecretFileError.wrongSize(path: file)) {
            try ServerSecrets(folder: folder.file("data.secrets"))
        }
        try FileManager.default.removeItem(atPath: file)
        _ = try ServerSecrets(folder: folder.file("data.secrets"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) != first)
    }

    @Test func onlyGoodTokensManage() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            let anna = try await Person.ready(server)
            var stranger = boss
            let last = boss.token.last == "A" ? "E" : "A"
            for token in [
                "x", anna.client.token, ManagementTokens.prefix,
                ManagementTokens.prefix + Base64URL.encode(randomBytes(32)), String(boss.token.dropLast()) + last,
                boss.token + "A",
            ] {
                stranger.token = token
                let other = stranger
                #expect(try await refusal { try await other.export() } == .notAuthenticated)
                #expect(try await refusal { try await other.importing("DEFINE SCHEMA") } == .notAuthenticated)
                #expect(try await refusal { try await other.deploy() } == .notAuthenticated)
                #expect(try await refusal { try await other.reset() } == .notAuthenticated)
                #expect(try await refusal { try await create(other) } == .notAuthenticated)
                #expect(try await refusal { try await list(other) } == .notAuthenticated)
                #expect(try await refusal { try await revoke(other, "0123456789abcdef") } == .notAuthenticated)
                #expect(try await refusal { try await other.roles() } == .notAuthenticated)
                #expect(try await refusal { try await other.assign("r", anna.name) } == .notAuthenticated)
            }
            // It is no session.
            #expect(try await refusal { try await anna.client.me(token: boss.token) } == .sessionExpired)
        }
    }

    @Test func aContainersTokenIsGoodForItAlone() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            let made = try await create(boss, lifetime: 60)
            var helper = boss
            helper.token = made.secret
            let ours = helper
            #expect(try await ours.export() == Schema.builtIn.text)
            #expect(try await ours.importing("DEFINE SCHEMA RECORD TYPE A ();").applied)
            #expect(try await ours.deploy().applied)
            let elsewhere = try await refusal {
                try await ours.call(
                    "export", .development, Sealkit_V1_ExportSchemaRequest(), as: Sealkit_V1_ExportSchemaResponse.self,
                    container: "org.other")
            }
            #expect(elsewhere == .permissionFailure)
            try await expectRefusal(.permissionFailure) { try await create(ours) }
            try await expectRefusal(.permissionFailure) { try await list(ours) }
            try await expectRefusal(.permissionFailure) { try await revoke(ours, made.token.id) }
            // Only its hash is kept.
            #expect(!(try server.storedBytes()).contains(bytes: Array(made.secret.utf8)))
            let bytes = try Base64URL.decode(made.secret.dropFirst(19))
            #expect(!(try server.storedBytes()).contains(bytes: bytes))

            let second = try await create(boss, "org.other", name: "other")
            #expect(try await list(boss) == [made.token, second.token])
            #expect(try await list(boss, "org.other") == [second.token])
            server.clock.advance(seconds: 60)
            try await expectRefusal(.notAuthenticated) { try await ours.export() }
            #expect(try await list(boss) == [second.token])
            try await revoke(boss, second.token.id)
            helper.token = second.secret
            let revoked = helper
            try await expectRefusal(.notAuthenticated) { try await revoked.export() }
            try await expectRefusal(.unknownItem) { try await revoke(boss, second.token.id) }
        }
    }

    @Test func refusalsOfTokenCalls() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            #expect(try await refusal { try await create(boss, "a b") } == .badContainer)
            #expect(try await refusal { try await create(boss, "") } == .badContainer)
            #expect(try await refusal { try await list(boss, "a/b") } == .badContainer)
            #expect(try await refusal { try await create(boss, name: "") } == .invalidArguments)
            #expect(try await refusal { try await create(boss, name: "a\nb") } == .invalidArguments)
            #expect(try await refusal { try await create(boss, lifetime: .max) } == .invalidArguments)
            #expect(try await refusal { try await revoke(boss, "") } == .invalidArguments)
            #expect(try await refusal { try await revoke(boss, "0123456789abcdeg") } == .invalidArguments)
            for _ in 0..<ManagementTokens.mostPerContainer { _ = try await create(boss) }
            #expect(try await refusal { try await create(boss) } == .limitExceeded)
            _ = try await create(boss, "org.other")
            // Those that have expired take no room.
            for token in try await list(boss, TestClient.container).prefix(3) { try await revoke(boss, token.id) }
            for _ in 0..<3 { _ = try await create(boss, lifetime: 60) }
            #expect(try await refusal { try await create(boss) } == .limitExceeded)
            server.clock.advance(seconds: 61)
            for _ in 0..<3 { _ = try await create(boss) }
            #expect(try await refusal { try await create(boss) } == .limitExceeded)
        }
    }

    /// Grants are no loss: a deployment gives them and takes them away.
    @Test func whoeverManagesSaysWhoMayReadAndChangeOthersPublicRecords() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            let saved = try await anna.savePublic([PublicWrite("a"), PublicWrite("b")])
            let deletion = PublicWrite(after: saved[0], kind: .delete)
            #expect(try await bert.publicCodes([deletion]) == [.permissionFailure])
            let known = try await server.schema().schema
            func deploy(_ grants: [RecordType.Grant]) async throws -> Bool {
                var schema = known
                schema.types["Note"]?.grants = grants
                try await boss.importing(schema.text)
                return try await boss.deploy().applied
            }
            #expect(try await deploy([.init([.read, .create, .write], to: "_icloud")]))
            #expect(try await bert.publicCodes([deletion]) == [nil])
            #expect(try await deploy([]))
            #expect(try await anna.lookupPublic(["b"]).results.map(\.code) == [.permissionFailure])
        }
    }

    @Test func rolesAreAssignedToUsers() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            #expect(try await refusal { try await boss.assign("Editor", anna.name) } == .unknownItem)
            try await boss.importing("DEFINE SCHEMA CREATE ROLE Editor; CREATE ROLE Reader;")
            try await boss.assign("Editor", anna.name)
            try await boss.assign("Editor", anna.name)
            try await boss.assign("Reader", anna.name)
            try await boss.assign("Editor", bert.name)
            let all = try await boss.roles()
            #expect(all.roles == ["Editor", "Reader"])
            #expect(all.assignments.count == 3)
            #expect(all.next.isEmpty)
            func roles(
                _ person: Person, _ environment: SealStatements.Environment = .development
            ) async throws -> Set<String> {
                try await server.services.database.read {
                    try RoleAssignments.roles(of: person.user, TestClient.container, environment, in: $0)
                }
            }
            #expect(try await roles(anna) == ["Editor", "Reader"])
            #expect(try await roles(bert) == ["Editor"])
            #expect(try await roles(anna, .production).isEmpty)
            // From a place among one user's.
            let rest = try await boss.roles(after: "\(anna.name) Editor").assignments
            let expected = ["\(anna.name) Reader"] + (anna.name < bert.name ? ["\(bert.name) Editor"] : [])
            #expect(rest.map { "\($0.userRecordName) \($0.role)" } == expected)
            // A deployment brings the role, not who has it.
            _ = try await boss.deploy()
            #expect(try await boss.roles(.production).roles == ["Editor", "Reader"])
            #expect(try await boss.roles(.production).assignments.isEmpty)
            try await boss.revoke("Reader", anna.name)
            #expect(try await roles(anna) == ["Editor"])
            #expect(try await refusal { try await boss.revoke("Reader", anna.name) } == .unknownItem)
            #expect(try await refusal { try await boss.assign("_creator", anna.name) } == .unknownItem)
            #expect(
                try await refusal { try await boss.assign("Editor", "_" + String(repeating: "0", count: 32)) }
                    == .unknownItem)
            #expect(try await refusal { try await boss.assign("Editor", "anna") } == .invalidArguments)
            #expect(try await refusal { try await boss.revoke("Editor", "") } == .invalidArguments)
            #expect(try await refusal { try await boss.roles(after: "x") } == .invalidArguments)
            #expect(try await refusal { try await boss.roles(after: "\(anna.name) a b") } == .invalidArguments)
            // From a place on.
            let sorted = [anna.name, bert.name].sorted()
            #expect(try await boss.roles(after: "\(sorted[0]) Editor").assignments.map(\.userRecordName) == [sorted[1]])
        }
    }

    @Test func aRoleThatGoesIsNobodys() async throws {
        try await RunningServer.with { server in
            let boss = try Management(server)
            let anna = try await Person.ready(server)
            try await boss.importing("DEFINE SCHEMA CREATE ROLE Editor;")
            try await boss.assign("Editor", anna.name)
            try await boss.importing("DEFINE SCHEMA")
            try await boss.importing("DEFINE SCHEMA CREATE ROLE Editor;")
            #expect(try await boss.roles().assignments.isEmpty)
        }
    }
}

extension Management {
    func roles(_ environment: SealStatements.Environment = .development, after: String = "") async throws
        -> Sealkit_V1_ListRolesResponse
    {
        try await call(
            "roles/list", environment, Sealkit_V1_ListRolesRequest.with { $0.after = after },
            as: Sealkit_V1_ListRolesResponse.self)
    }

    func assign(_ role: String, _ user: String) async throws {
        let assignment = Sealkit_V1_RoleAssignment.with { ($0.role, $0.userRecordName) = (role, user) }
        _ = try await call(
            "roles/assign", .development, Sealkit_V1_AssignRoleRequest.with { $0.assignment = assignment },
            as: Sealkit_V1_AssignRoleResponse.self)
    }

    func revoke(_ role: String, _ user: String) async throws {
        let assignment = Sealkit_V1_RoleAssignment.with { ($0.role, $0.userRecordName) = (role, user) }
        _ = try await call(
            "roles/revoke", .development, Sealkit_V1_RevokeRoleRequest.with { $0.assignment = assignment },
            as: Sealkit_V1_RevokeRoleResponse.self)
    }
}
