import Foundation
import SealLab
import Testing

@testable import SealKit

/// `sealkit serve` as a process: how it starts, refuses to, stops, and survives being killed.
@Suite(.timeLimit(.minutes(60))) struct ServeTests {
    @Test func itSaysThatItIsWell() async throws {
        let server = try ServerProcess.shared.get()
        let (status, body) = try await request(server, "GET", "/health")
        #expect(status == 200)
        #expect(body.contains("\"status\":\"ok\""))
    }

    @Test func aSecondServerOnTheSameFolderIsRefused() throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        do {
            try ServerProcess(folder: server.folder, mail: false).terminate()
            Issue.record("a second server started on the same folder")
        } catch let failure as ServerProcess.StartFailure {
            #expect(
                failure.description.contains("already") || failure.description.contains("use"), "\(failure.description)"
            )
            #expect(failure.description.contains(server.dataFolder.path))
        }
    }

    @Test func anAddressThatItCannotHaveIsNamed() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let folder = server.folder.appendingPathComponent("other").path
        let taken = String(server.origin.dropFirst("http://".count))
        func serve(_ address: String) async throws -> Command {
            try await Command.finished(
                ServerProcess.executable,
                [
                    "serve", "--data", folder, "--behind-proxy", "--origin", "https://notes.example.org", "--listen",
                    address,
                ])
        }
        func isUntouched() -> Bool {
            ![folder, folder + ".secrets"].contains(where: FileManager.default.fileExists(atPath:))
        }
        let inUse = try await serve(taken)
        #expect(inUse.status == 75, "\(inUse.errors)")
        #expect(inUse.errors.contains("Another program listens on \(taken) already"), "\(inUse.errors)")
        #expect(isUntouched(), "a start that failed left a folder")
        let foreign = try await serve("192.0.2.1:8080")
        #expect(foreign.status == 65, "\(foreign.errors)")
        #expect(foreign.errors.contains("192.0.2.1:8080 is no address of this machine"), "\(foreign.errors)")
        let unknown = try await serve("nosuchname.invalid:8080")
        #expect(unknown.status == 65, "\(unknown.errors)")
        #expect(unknown.errors.contains("nosuchname.invalid:8080 is no address of this machine"), "\(unknown.errors)")
        #expect(isUntouched(), "a start that failed left a folder")
    }

    /// Shells start programs with fewer open files than the devices that listen to one server.
    @Test func itRaisesTheLimitOfOpenFilesAsFarAsItMay() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sealkit-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = """
            ulimit -S -n 256
            "$0" serve --data "$1/data" --listen 127.0.0.1:0 > "$1/out" &
            until [ -s "$1/out" ]; do kill -0 $! || exit 1; sleep 0.05; done
            grep 'open files' /proc/$!/limits
            ulimit -H -n
            kill $!
            wait
            """
        let shown = try await Command.finished(
            URL(fileURLWithPath: "/bin/sh"), ["-c", script, ServerProcess.executable.path, folder.path]
        ).output.split(whereSeparator: \.isWhitespace)
        // "Max open files SOFT HARD files", and the shell's own hard limit.
        #expect(shown.count == 7 && shown[3] == shown[4] && shown[4] == shown[6], "\(shown)")
    }

    @Test(arguments: ["0.0.0.0:0", "[::]:0"])
    func itDoesNotListenBeyondThisMachineWithoutTLS(listen: String) throws {
        do {
            try ServerProcess(mail: false, arguments: ["--listen", listen]).stop()
            Issue.record("it listens on \(listen) without TLS")
        } catch let failure as ServerProcess.StartFailure {
            #expect(failure.description.contains("TLS"), "\(failure.description)")
        }
        try ServerProcess(
            mail: false, arguments: ["--listen", listen, "--behind-proxy", "--origin", "https://notes.example.org"]
        ).stop()
    }

    @Test(arguments: [
        ("not protobuf at all", "application/x-protobuf", 400), ("{", "application/json", 400),
        ("{}", "text/plain", 400),
        (String(repeating: "x", count: 6_000_000), "application/x-protobuf", 413),
    ])
    func malformedAndOversizedBodiesAreTypedErrors(body: String, type: String, expected: Int) async throws {
        let server = try ServerProcess.shared.get()
        let (status, answer) = try await request(server, "POST", "/1/accounts/challenge", body: body, type: type)
        #expect(status == expected, "\(answer)")
    }

    @Test func jsonIsTheSameProtocolForEyesAndCurl() async throws {
        let server = try ServerProcess.shared.get()
        let key = Data(repeating: 1, count: 32).base64EncodedString()
        let (status, body) = try await request(
            server, "POST", "/1/accounts/challenge", body: "{\"loginKey\":\"\(key)\"}", type: "application/json")
        #expect([200, 400].contains(status))
        #expect(body.hasPrefix("{"))
        let (missing, failure) = try await request(
            server, "POST", "/database/1/org.example.notes/development/private/zones/lookup", body: "{}",
            type: "application/json")
        #expect(missing == 401)
        #expect(failure.contains("notAuthenticated"))
    }

    @Test func whatWasAcknowledgedSurvivesATermAndAKill() async throws {
        var server = try ServerProcess(mail: false)
        let folder = server.folder
        defer { try? FileManager.default.removeItem(at: folder) }
        let port = try #require(URL(string: server.origin)?.port)
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        let first = try await ann.own.save(ann.note(in: zone, "before the term"))
        server.terminate()
        #expect(server.exitStatus == 0)
        server = try ServerProcess(folder: folder, port: port, mail: false)
        #expect(try await ann.own.record(for: first.recordID).encryptedValues["body"] == "before the term")

        // Writers are busy when the server is killed; each notes what was acknowledged.
        let doomed = server
        let count = LockedValue(0)
        let acknowledged = await withTaskGroup(of: [Record].self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var saved: [Record] = []
                    for index in 0..<2_000 {
                        let pair = (0..<2).map { ann.note(in: zone, "x", name: "\(writer)-\(index)-\($0)") }
                        let results = (try? await ann.own.modifyRecords(saving: pair))?.saveResults.values ?? [:].values
                        let done = results.compactMap { try? $0.get() }
                        guard done.count == 2 else { break }
                        saved += done
                        count.change { $0 += 1 }
                    }
                    return saved
                }
            }
            group.addTask {
                while count.value < 20 { try? await Task.sleep(for: .milliseconds(5)) }
                doomed.kill()
                return []
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(acknowledged.count >= 40)
        server = try ServerProcess(folder: folder, port: port, mail: false)
        defer { server.terminate() }
        let reader = try ann.onFreshDevice()
        var found: Set<String> = []
        var token: ServerChangeToken?
        while true {
            let page = try await reader.own.recordZoneChanges(inZoneWith: zone, since: token)
            for (id, result) in page.modifications where result.failureCode == nil { found.insert(id.recordName) }
            token = page.changeToken
            if !page.moreComing { break }
        }
        #expect(acknowledged.allSatisfy { found.contains($0.recordID.recordName) })
        // Batches are there whole or not at all.
        let pairs = found.filter { $0.contains("-") && $0.split(separator: "-").count == 3 }
        #expect(
            pairs.allSatisfy { name in
                let partner = String(name.dropLast()) + (name.hasSuffix("0") ? "1" : "0")
                return found.contains(partner)
            })
    }

    @Test func ofTwoClientsThatSaveTheSameRecordOneWins() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let record = try await ann.own.save(ann.note(in: zone, "start"))
        let outcomes = await withTaskGroup(of: SealKitError.Code?.self) { group in
            for index in 0..<8 {
                group.addTask {
                    var copy = record
                    copy.encryptedValues["body"] = "writer \(index)"
                    return await failure { try await ann.own.save(copy) }
                }
            }
            return await group.reduce(into: [SealKitError.Code?]()) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == nil }.count == 1)
        #expect(outcomes.filter { $0 == .serverRecordChanged }.count == 7)
    }

    private func request(
        _ server: ServerProcess, _ method: String, _ path: String, body: String = "", type: String = "application/json"
    ) async throws -> (status: Int, body: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = [
            "-s", "-X", method, "-H", "Content-Type: \(type)", "-w", "\n%{http_code}", server.origin + path,
        ]
        let input = Pipe()
        if !body.isEmpty { process.arguments? += ["--data-binary", "@-"] }
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        try process.start()
        // A server that refuses early closes the connection; curl then stops reading.
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread {
            try? input.fileHandleForWriting.write(contentsOf: Data(body.utf8))
            try? input.fileHandleForWriting.close()
        }
        let text = await output.text()
        await process.end()
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
    }
}
