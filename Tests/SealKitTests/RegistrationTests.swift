import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import Synchronization
import Testing

@testable import SealKit

/// A server that makes accounts by invitation only, as the SDK and the command line meet it.
@Suite(.timeLimit(.minutes(60))) struct RegistrationTests {
    @Test func aCodeFromTheOperatorMakesAnAccount() async throws {
        let server = try ServerProcess(
            mail: false, arguments: ["--registration", "invite", "--operator", "127.0.0.1:0"])
        defer { server.stop() }
        let transport = try HTTPTransport(server: server.origin)
        #expect(try await Account.registration(transport: transport) == .invite)
        #expect(await failure { _ = try await Account.create(transport: transport) } == .permissionFailure)
        let invited = try await Command.finished(
            ServerProcess.executable,
            ["admin", "invite", "--data", server.dataFolder.path, "--count", "2", "--days", "1", "--quiet"])
        let codes = invited.output.split(separator: "\n").map(String.init)
        #expect(invited.status == 0)
        #expect(codes.count == 2)
        #expect(Set(codes).count == 2)

        let account = try await Account.create(transport: transport, registrationCode: codes[0]).account
        #expect(try await account.status() == .available)
        await #expect {
            _ = try await Account.create(transport: transport, registrationCode: codes[0])
        } throws: { error in
            guard let error = error as? SealKitError else { return false }
            return error.code == .verificationFailed && error.reason.contains("used")
        }
        // By the command, which leaves no file behind where it was refused.
        let file = server.folder.appendingPathComponent("ann.json").path
        let arguments = ["account", "create", "--server", server.origin, "--key-file", file]
        let refused = try await Command.finished(ServerProcess.executable, arguments)
        #expect(refused.status == 77)
        #expect(refused.errors.contains("invitation"))
        #expect(!FileManager.default.fileExists(atPath: file))
        let made = try await Command.finished(ServerProcess.executable, arguments + ["--registration-code", codes[1]])
        #expect(made.status == 0)
    }

    private func codes(_ server: ServerProcess, _ count: Int) async throws -> [String] {
        try await Command.finished(
            ServerProcess.executable,
            ["admin", "invite", "--data", server.dataFolder.path, "--count", "\(count)", "--quiet"]
        ).output.split(separator: "\n").map(String.init)
    }

    /// The code is used up, and no answer says so: the same call makes the same account, which is there.
    @Test func anAccountWhoseMakingWasCutOffIsGoneOnWith() async throws {
        let server = try ServerProcess(
            mail: false, arguments: ["--registration", "invite", "--operator", "127.0.0.1:0"])
        defer { server.stop() }
        let code = try #require(try await codes(server, 1).first)
        let losses: [LossyTransport.Loss] = [.answer] + Array(repeating: .request, count: 100)
        let network = LossyTransport(try HTTPTransport(server: server.origin), losing: "accounts/create", losses)
        let store = MemoryKeyStore()
        let lost = await failure {
            _ = try await Account.create(transport: network, registrationCode: code, in: store)
        }
        #expect(lost != nil)
        var begun = try #require(try await store.load())
        let begunKey = try #require(begun.recoveryKey)
        // An app makes an account where it loads none: so it comes back to this one.
        #expect(try await Account.load(from: store) == nil)
        network.lose([])
        let (account, key) = try await Account.create(transport: network, registrationCode: code, in: store)
        let kept = try #require(try await store.load())
        begun.recoveryKey = nil
        #expect(kept.isSame(as: begun))
        #expect(key.text() == begunKey.text())
        #expect(try await Account.load(from: store) != nil)
        #expect(try await account.devices().count == 1)
        #expect(try await account.isGood(key))
        // It is there now, with the key that was shown, and nobody is asked about it.
        let calls = network.calls.count
        #expect(
            await failure { _ = try await Account.create(transport: network, registrationCode: code, in: store) }
                == .constraintViolation)
        #expect(network.calls.count == calls)
        #expect(try await Account.load(from: store) != nil)
        #expect(try await account.isGood(key))
        #expect(try await account.devices().count == 1)
    }

    @Test func whatCannotBeKeptUsesNoCodeUp() async throws {
        let server = try ServerProcess(
            mail: false, arguments: ["--registration", "invite", "--operator", "127.0.0.1:0"])
        defer { server.stop() }
        let transport = try HTTPTransport(server: server.origin)
        let codes = try await codes(server, 3)
        let answers = Mutex<[String?]>([nil, "correct horse"])
        let store = FileKeyStore(file: server.folder.appendingPathComponent("ann.json")) {
            () throws(SealKitError) in
            guard let typed = answers.withLock({ $0.removeFirst() }) else {
                throw SealKitError(.operationCancelled, "not now")
            }
            return typed
        }
        #expect(
            await failure { _ = try await Account.create(transport: transport, registrationCode: codes[0], in: store) }
                == .operationCancelled)
        _ = try await Account.create(transport: transport, registrationCode: codes[0], in: store)
        // What was refused, or never sent, is no account, and in nobody's way.
        let empty = MemoryKeyStore()
        #expect(
            await failure { _ = try await Account.create(transport: transport, registrationCode: codes[0], in: empty) }
                == .verificationFailed)
        #expect(try await Account.load(from: empty) == nil)
        let nowhere = try HTTPTransport(server: "http://127.0.0.1:1")
        #expect(await failure { _ = try await Account.create(transport: nowhere, in: empty) } == .networkFailure)
        #expect(try await Account.load(from: empty) == nil)
        let (late, _) = try await Account.create(transport: transport, registrationCode: codes[2], in: empty)
        #expect(try await late.status() == .available)
        #expect(try await empty.load()?.server == transport.origin)
        // An app that was ended before the server heard of its account goes on with it.
        var random = SystemRandom()
        var kept = try AccountSecrets(server: transport.origin, seeds: [AccountSeed(random: &random)])
        kept.recoveryKey = RecoveryKey(random: &random)
        let cold = MemoryKeyStore(kept)
        let (account, _) = try await Account.create(transport: transport, registrationCode: codes[1], in: cold)
        #expect(try await account.status() == .available)
        kept.recoveryKey = nil
        #expect(try await cold.load()?.isSame(as: kept) == true)
    }

    /// A button that was pressed twice, or an app and its extension: whichever key is shown is good.
    @Test func anAccountThatIsMadeTwiceAtOnceHasOneRecoveryKey() async throws {
        let transport = try HTTPTransport(server: try ServerProcess.shared.get().origin)
        var random = SystemRandom()
        var begun = try AccountSecrets(server: transport.origin, seeds: [AccountSeed(random: &random)])
        begun.recoveryKey = RecoveryKey(random: &random)
        let store = MemoryKeyStore(begun)
        async let first = Account.create(transport: transport, in: store)
        async let second = Account.create(transport: transport, in: store)
        let keys = [try await first.recoveryKey, try await second.recoveryKey]
        for key in keys {
            let back = try await Account.recover(key, transport: transport)
            #expect(back.seeds[0].bytes.copyBytes() == begun.seeds[0].bytes.copyBytes())
        }
        #expect(try await store.load()?.isUnfinished == false)
    }

    /// Who is invited to a share of such a server makes the account with the same command.
    @Test func whoIsInvitedGivesTheCodeWhileAccepting() async throws {
        let server = try ServerProcess(
            mail: false, arguments: ["--registration", "invite", "--operator", "127.0.0.1:0"])
        defer { server.stop() }
        func run(_ arguments: [String], as name: String) async throws -> (status: Int32, output: String, errors: String)
        {
            let file = server.folder.appendingPathComponent("\(name).json").path
            let said = try await Command.finished(ServerProcess.executable, arguments + ["--key-file", file])
            return (said.status, said.output.trimmingCharacters(in: .whitespacesAndNewlines), said.errors)
        }
        let invited = try await Command.finished(
            ServerProcess.executable, ["admin", "invite", "--data", server.dataFolder.path, "--count", "2", "--quiet"])
        let codes = invited.output.split(separator: "\n").map(String.init)
        let (first, second) = (try #require(codes.first), try #require(codes.last))
        let made = try await run(
            ["account", "create", "--server", server.origin, "--registration-code", first], as: "ann")
        #expect(made.status == 0)
        for arguments in [["zone", "create", "Notes"], ["share", "create", "Notes"]] {
            let said = try await run(arguments, as: "ann")
            #expect(said.status == 0)
        }
        let url = try await run(["share", "invite", "Notes", "--one-time", "--quiet"], as: "ann").output
        let accept = ["share", "accept", url, "--new-account", "--quiet"]
        let refused = try await run(accept, as: "carol")
        #expect(refused.status == 77, "\(refused.errors)")
        #expect(refused.errors.contains("--registration-code"), "\(refused.errors)")
        let accepted = try await run(accept + ["--registration-code", second], as: "carol")
        #expect(accepted.status == 0, "\(accepted.errors)")
    }

    @Test func theOperatorsCommandSaysWhatItCannotDo() async throws {
        let nowhere = try await Command.finished(
            ServerProcess.executable, ["admin", "invite", "--data", "/nonexistent/sealkit"])
        #expect(nowhere.status == 69)
        #expect(nowhere.errors.contains("/nonexistent/sealkit"))
        // A settings file names the folders as it does for the server.
        let folder = try TemporaryFolder()
        let settings = folder.url.appendingPathComponent("sealkit.yaml")
        try "data: /nonexistent/elsewhere\nsecrets: /nonexistent/kept\nlisten: 127.0.0.1:1\n"
            .write(to: settings, atomically: true, encoding: .utf8)
        let named = try await Command.finished(
            ServerProcess.executable, ["admin", "invite", "--config", settings.path])
        #expect(named.status == 69, "\(named.errors)")
        #expect(named.errors.contains("/nonexistent/elsewhere"), "\(named.errors)")
        let keys = try await Command.finished(
            ServerProcess.executable, ["admin", "token-keys", "list", "--config", settings.path])
        #expect(keys.status == 65, "\(keys.errors)")
        #expect(keys.errors.contains("/nonexistent/kept"), "\(keys.errors)")
        let missing = try await Command.finished(
            ServerProcess.executable, ["admin", "token-keys", "list", "--config", settings.path + ".none"])
        #expect(missing.status == 65, "\(missing.errors)")
        #expect(missing.errors.contains("--config"), "\(missing.errors)")
        for wrong in [["--count", "0"], ["--days", "0"], ["--count", "1001"]] {
            let refused = try await Command.finished(
                ServerProcess.executable, ["admin", "invite", "--data", "/nonexistent/sealkit"] + wrong)
            #expect(refused.status == 64)
        }
    }
}
