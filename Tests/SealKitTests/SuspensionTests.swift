import Foundation
import SealLab
import Testing

@testable import SealKit

/// An account that the server's operator has suspended, as the SDK and the command line meet it, and the operator's
/// side of it in both.
@Suite(.timeLimit(.minutes(60))) struct SuspensionTests {
    private static func server(_ arguments: [String] = [], mail: Bool = false) throws -> ServerProcess {
        try ServerProcess(mail: mail, arguments: ["--operator", "127.0.0.1:0"] + arguments)
    }

    private static func admin(
        _ words: [String], _ server: ServerProcess
    ) async throws -> (status: Int32, output: String, errors: String) {
        let said = try await Command.finished(
            ServerProcess.executable, ["admin"] + words + ["--data", server.dataFolder.path])
        return (said.status, said.output.trimmingCharacters(in: .whitespacesAndNewlines), said.errors)
    }

    @Test func aSuspendedAccountIsToldSo() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let (ann, bob) = (try await Person(server), try await Person(server))
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "mine"))
        let suspended = try await Self.admin(["suspend", ann.name, "--reason", "Invoice 4711", "--json"], server)
        #expect(suspended.status == 0, "\(suspended.errors)")
        #expect(suspended.output.contains("\"suspended\":true"))
        await #expect {
            _ = try await ann.own.record(for: note.recordID)
        } throws: { error in
            guard let error = error as? SealKitError else { return false }
            return error.code == .accountSuspended && error.reason.contains("Invoice 4711") && !error.remedy.isEmpty
        }
        #expect(await failure { _ = try await ann.own.save(ann.note(in: zone, "more")) } == .accountSuspended)
        #expect(try await ann.account.status() == .temporarilyUnavailable)
        _ = try await bob.own.allRecordZones()
        let undone = try await Self.admin(["unsuspend", ann.name], server)
        #expect(undone.status == 0, "\(undone.errors)")
        #expect(try await ann.own.record(for: note.recordID).encryptedValues["body"] == "mine")
        #expect(try await ann.account.status() == .available)
    }

    @Test func theCommandLineOfASuspendedAccountSaysWhy() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let file = server.folder.appendingPathComponent("ann.json").path
        func run(_ words: [String]) async throws -> Command {
            try await Command.finished(ServerProcess.executable, words + ["--key-file", file])
        }
        #expect(try await run(["account", "create", "--server", server.origin]).status == 0)
        #expect(try await run(["zone", "create", "Notes"]).status == 0)
        let name = try await Self.admin(["accounts", "--quiet"], server).output
        #expect(name.utf8.count == 32)
        let suspend = ["suspend", String(name.prefix(8)), "--reason", "Invoice 4711"]
        #expect(try await Self.admin(suspend, server).status == 0)
        let refused = try await run(["zone", "list"])
        #expect(refused.status == 77)
        #expect(refused.errors.contains("Invoice 4711"), "\(refused.errors)")
        #expect(refused.errors.contains("[accountSuspended]"), "\(refused.errors)")
        #expect(try await Self.admin(["unsuspend", name], server).status == 0)
        #expect(try await run(["zone", "list"]).status == 0)
    }

    @Test func theOperatorsCommandsAnswer() async throws {
        let server = try Self.server(mail: true)
        defer { server.stop() }
        try await server.mail?.waitUntilListening()
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        try await ann.own.save(ann.note(in: zone, "a"))
        for (words, expected) in [
            (["accounts"], ann.name), (["accounts", ann.name], "1 device"), (["accounts", "nobody-at-all"], ""),
            (["accounts", "--suspended"], ""), (["usage"], "rows billed"), (["usage", ann.name], "org.example.notes"),
            (["quota", ann.name, "123456789"], "(its own)"), (["quota", ann.name, "none"], "no limit"),
            (["quota", ann.name, "default"], "10.00 GiB"), (["suspend", ann.name, "--reason", "why"], "why"),
            (["accounts", "--suspended"], "suspended since"), (["unsuspend", ann.name], ann.name),
            (["invite"], "good for one account"),
            (["mail-test", "me@example.org"], "has taken the mail, and said: 250"),
        ] {
            let said = try await Self.admin(words, server)
            #expect(said.status == 0, "\(words): \(said)")
            #expect(expected.isEmpty ? said.output.isEmpty : said.output.contains(expected), "\(words): \(said)")
            #expect(!said.output.contains("sealkit-operator-"))
        }
        for words in [
            ["accounts"], ["usage"], ["usage", ann.name], ["quota", ann.name, "default"], ["suspend", ann.name],
            ["unsuspend", ann.name], ["invite", "--count", "2"], ["mail-test", "me@example.org"],
        ] {
            let said = try await Self.admin(words + ["--json"], server)
            #expect(said.status == 0, "\(words): \(said)")
            let lines = said.output.split(separator: "\n")
            #expect(lines.count == (words.first == "invite" ? 2 : 1), "\(words): \(said)")
            for line in lines { #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any]) }
        }
    }

    @Test func theOperatorsCommandsSayWhatTheyCannotDo() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let other = try ServerProcess(mail: false)
        defer { other.stop() }
        let ann = try await Person(server)
        let wrong = server.folder.appendingPathComponent("wrong.token").path
        try Data("sealkit-operator-\(String(repeating: "A", count: 43))\n".utf8).write(to: URL(fileURLWithPath: wrong))
        let management = server.dataFolder.path + ".secrets/management.token"
        for (words, status, text) in [
            (["usage", "ffffff"], Int32(66), "unknownItem"), (["usage", "ff"], 65, "6 characters"),
            (["suspend", ann.name, "--reason", String(repeating: "x", count: 300)], 65, "255"),
            (["quota", ann.name, "0"], 64, "none or default"), (["quota", ann.name, "ten"], 64, "none or default"),
            (["accounts", "--limit", "0"], 64, "--limit"), (["mail-test", "nobody"], 65, "name@example.org"),
            (["mail-test", "me@example.org"], 70, "--smtp-url"),
            (["usage", "--token-file", wrong], 77, "operator.token"),
            (["usage", "--token-file", management], 65, "sealkit-operator-"),
            (["usage", "--token-file", wrong + ".none"], 77, "--token-file"),
            (["usage", "--at", "http://127.0.0.1:1"], 69, "--operator"),
            (["usage", "--at", server.origin], 65, "nothing at this path"),
        ] {
            let said = try await Self.admin(words, server)
            #expect(said.status == status, "\(words): \(said)")
            #expect(said.errors.contains(text), "\(words): \(said)")
            #expect(!said.errors.contains(String(repeating: "A", count: 43)))
        }
        let json = try await Self.admin(["usage", "ffffff", "--json"], server)
        #expect(json.errors.hasPrefix("{\"error\":"), "\(json.errors)")
        // Another server without the listener, and none at all.
        let without = try await Self.admin(["usage"], other)
        #expect(without.status == 69)
        #expect(without.errors.contains("has no operator's listener"), "\(without.errors)")
        #expect(without.errors.contains("--operator 127.0.0.1:8090"), "\(without.errors)")
        let folder = server.dataFolder.path
        server.kill()
        let killed = try await Command.finished(ServerProcess.executable, ["admin", "usage", "--data", folder])
        #expect(killed.status == 69)
        #expect(killed.errors.contains("no server"), "\(killed.errors)")
        let nowhere = try await Command.finished(ServerProcess.executable, ["admin", "usage"])
        #expect(nowhere.status == 65)
        #expect(nowhere.errors.contains("--data"), "\(nowhere.errors)")
    }

    @Test func aListOfThreePagesIsReadToItsEnd() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let transport = try HTTPTransport(server: server.origin)
        for _ in 0..<5 { _ = try await Account.create(transport: transport) }
        let file = server.dataFolder.path + ".secrets/operator.token"
        let token = try OperatorToken(String(contentsOfFile: file, encoding: .utf8).dropLast())
        #expect("\(token)" == "OperatorToken")
        let url = try String(contentsOfFile: server.dataFolder.path + "/operator.url", encoding: .utf8).dropLast()
        let boss = ServerOperator(token: token, transport: try HTTPTransport(server: String(url)))
        var (names, cursor, pages) = ([String](), Data?.none, 0)
        repeat {
            let page = try await boss.accounts(after: cursor, limit: 2)
            names += page.accounts.map(\.name)
            cursor = page.cursor
            pages += 1
        } while cursor != nil
        #expect(pages == 3)
        #expect(Set(names).count == 5)
        let said = try await Self.admin(["accounts", "--quiet"], server)
        #expect(said.output.split(separator: "\n").map(String.init) == names)
        let two = try await Self.admin(["accounts", "--quiet", "--limit", "2"], server)
        #expect(two.output.split(separator: "\n").count == 2)
    }
}
