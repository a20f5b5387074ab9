@testable import CloudKit
import Foundation
import SealKit
import Testing

/// How a process says on whose behalf it works.
@Suite(.timeLimit(.minutes(60))) struct ConfigurationTests {
    private let home = FileManager.default.temporaryDirectory.appendingPathComponent("cloudkit-\(UUID().uuidString)")

    private func setup(_ environment: [String: String], json: String? = nil) throws -> CKContainer.Setup {
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        let file = home.appendingPathComponent("CloudKit.json")
        if let json { try Data(json.utf8).write(to: file) }
        return try ProcessSetup(environment: environment, file: file, home: home).setup()
    }

    private func keyFile(_ setup: CKContainer.Setup) -> String? {
        guard case .keyStore(let store as FileKeyStore, let trust, _) = setup.account else { return nil }
        #expect(trust?.path == store.file.path + ".trust")
        return store.file.path
    }

    @Test func theEnvironmentGoesBeforeTheFile() throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let json = #"{"SEALKIT_KEY_FILE": "/tmp/json", "SEALKIT_CONTAINER": "org.example.json"}"#
        let both = try setup(
            ["SEALKIT_KEY_FILE": "/tmp/env", "SEALKIT_ENVIRONMENT": "production"], json: json)
        #expect(keyFile(both) == "/tmp/env")
        #expect(both.containerIdentifier == "org.example.json")
        #expect(both.environment == .production)
        let file = try setup([:], json: json)
        #expect(keyFile(file) == "/tmp/json")
        #expect(file.environment == .development)
    }

    /// Beside the account's keys, where nothing else is said.
    @Test func theFolderOfWhatIsKept() throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let beside = try setup(["SEALKIT_KEY_FILE": "/tmp/keys"])
        #expect(beside.stateFolder?.path == "/tmp/keys.state")
        let elsewhere = try setup(["SEALKIT_KEY_FILE": "/tmp/keys", "SEALKIT_STATE": "/tmp/kept"])
        #expect(elsewhere.stateFolder?.path == "/tmp/kept")
        #expect(beside.isSame(as: elsewhere) == false)
    }

    @Test func theAccountInUseOfTheCommandLine() throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let folder = home.resolvingSymlinksInPath().path + "/.config/sealkit"
        #expect(keyFile(try setup([:])) == folder + "/account.json")
        #expect(keyFile(try setup(["SEALKIT_ACCOUNT": "work"])) == folder + "/accounts/work.json")
        #expect(try setup([:]).containerIdentifier == nil)
    }

    @Test(
        arguments: [
            (["SEALKIT_ENVIRONMENT": "staging"], nil), (["SEALKIT_ACCOUNT": "../other"], nil),
            ([:], "[1]"), ([:], #"{"SEALKIT_TLS_KEY": "a"}"#),
        ] as [([String: String], String?)])
    func badOnesAreRefused(_ environment: [String: String], _ json: String?) {
        defer { try? FileManager.default.removeItem(at: home) }
        #expect(throws: SealKitError(.invalidArguments, "")) { try setup(environment, json: json) }
    }

    @Test func aKeyFileThatIsNotThereIsNobody() async throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let container = CKContainer(identifier: "org.example.app", setup: try setup([:]))
        #expect(try await container.accountStatus() == .noAccount)
        await expectFailure(.notAuthenticated) { _ = try await container.userRecordID() }
        await expectFailure(.notAuthenticated) { _ = try await container.privateCloudDatabase.allRecordZones() }
    }

    @Test func aBadIdentifierFailsEachCall() async throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let container = CKContainer(identifier: "no identifier", setup: try setup([:]))
        #expect(container.containerIdentifier == "no identifier")
        await expectFailure(.badContainer) { _ = try await container.accountStatus() }
        await expectFailure(.badContainer) { _ = try await container.privateCloudDatabase.allRecordZones() }
    }
}
