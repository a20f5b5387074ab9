import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

/// Each error code, caused for real: the SDK, a real server, and what goes wrong between and beside them.
///
/// Codes that other suites cause are not caused again; the table in `Errors.md` names the test of each.
@Suite(.timeLimit(.minutes(60))) struct ErrorCodesTests {
    private let temporary: TemporaryFolder
    var folder: URL { temporary.url }

    init() throws { temporary = try TemporaryFolder() }

    // MARK: The way to the server

    @Test func networkUnavailable() async throws {
        let ann = try await Person()
        let lost = try ann.through(try HTTPTransport(server: "https://no-such-server.invalid"))
        #expect(await failure { _ = try await lost.own.allRecordZones() } == .networkUnavailable)
    }

    @Test func networkFailure() async throws {
        let server = try ServerProcess(mail: false)
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        server.stop()
        #expect(await failure { _ = try await ann.own.recordZone(for: zone) } == .networkFailure)
        #expect(await failure { try await ann.own.save(ann.note(in: zone, "x")) } == .networkFailure)
    }

    /// The server stands still: the save may arrive, and no answer comes.
    @Test func serverResponseLost() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let ann = try await Person(server)
        let zone = try await ann.makeZone()
        _ = try await ann.own.save(ann.note(in: zone, "x"))
        let note = ann.note(in: zone, "stored or not", name: "note")
        server.pause()
        let configuration = OperationConfiguration(timeoutIntervalForRequest: 3, timeoutIntervalForResource: 8)
        let code = await failure {
            _ = try await ann.own.configuredWith(configuration: configuration) { try await $0.save(note) }
        }
        server.resume()
        #expect(code == .serverResponseLost)
        // As the error says: fetching tells which.
        do {
            #expect(try await ann.own.record(for: note.recordID).encryptedValues["body"] == "stored or not")
        } catch {
            #expect(error.code == .unknownItem)
        }
    }

    @Test func serverRejectedRequest() async throws {
        let other = try SilentServer(
            saying: "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwhat?")
        let ann = try await Person()
        let astray = try ann.through(try HTTPTransport(server: other.origin))
        let code = await failure { _ = try await astray.own.allRecordZones() }
        #expect(code == .serverRejectedRequest)
    }

    @Test func requestRateLimited() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let transport = try HTTPTransport(server: server.origin)
        var random = SystemRandom()
        var last: SealKitError?
        var asked = ContinuousClock.now
        let impatient = OperationContext(configuration: OperationConfiguration(timeoutIntervalForResource: 5))
        for _ in 0..<200 where last?.code != .requestRateLimited {
            asked = .now
            do throws(SealKitError) {
                _ = try await OperationContext.$current.bound(to: impatient) { () async throws(SealKitError) in
                    try await Account.recover(RecoveryKey(random: &random), transport: transport)
                }
            } catch {
                last = error
            }
        }
        #expect(last?.code == .requestRateLimited)
        // More than the call had left of its five seconds, so it is told and not slept.
        #expect((last?.retryAfter ?? 0) + (ContinuousClock.now - asked) / .seconds(1) >= 5)
    }

    @Test func incompatibleVersion() async throws {
        var configuration = HTTPTransport.Configuration()
        configuration.wireVersion = "2"
        let ann = try await Person()
        let newer = try ann.through(try HTTPTransport(server: ann.server.origin, configuration: configuration))
        #expect(await failure { _ = try await newer.own.allRecordZones() } == .incompatibleVersion)

        let file = folder.appendingPathComponent("account.json")
        try KeyFile.write(ann.account, to: file, passphrase: nil)
        let text = try String(contentsOf: file, encoding: .utf8).replacingOccurrences(
            of: "\"version\" : 1", with: "\"version\" : 2")
        let other = folder.appendingPathComponent("newer.json")
        try Data(text.utf8).write(to: other)
        #expect(await failure { _ = try KeyFile(contentsOf: other) } == .incompatibleVersion)
    }

    /// The server refuses a token that has ended; the SDK renews it, so only who sends one by hand sees the code.
    @Test func sessionExpired() async throws {
        let ann = try await Person()
        let response = try await ann.account.client.transport.get(
            "/1/accounts/me", token: Base64URL.encode([UInt8](repeating: 1, count: 32)))
        #expect(response.failure.code == .sessionExpired)
    }

    // MARK: Requests

    @Test func badContainer() async throws {
        let ann = try await Person()
        #expect(await failure { _ = try Container("no container!", account: ann.account) } == .badContainer)
        let response = try await ann.account.client.transport.post(
            "/database/1/no%20container/development/private/zones/lookup", body: Data(),
            token: try await ann.account.session.token())
        #expect(response.failure.code == .badContainer)
    }

    @Test func badDatabase() async throws {
        let ann = try await Person()
        #expect(await failure { try await ann.shared.save(RecordZone(zoneName: "x")) } == .badDatabase)
        #expect(
            await failure { _ = try await ann.shared.recordZoneChanges(inZoneWith: RecordZone.ID(zoneName: "x")) }
                == .badDatabase)
    }

    @Test func invalidArguments() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        #expect(await failure { try await ann.own.save(ann.note(in: zone, "x", name: "")) } == .invalidArguments)
        let note = ann.note(in: zone, "x")
        #expect(await failure { _ = try await ann.own.modifyRecords(saving: [note, note]) } == .invalidArguments)
    }

    @Test func limitExceeded() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let notes = (0..<401).map { ann.note(in: zone, "x", name: "\($0)") }
        #expect(await failure { _ = try await ann.own.modifyRecords(saving: notes) } == .limitExceeded)
        #expect(await failure { _ = try await ann.own.records(for: notes.map(\.recordID)) } == .limitExceeded)
        #expect(try await ann.own.recordZoneChanges(inZoneWith: zone).modifications.isEmpty)
    }

    @Test func changeTokenExpired() async throws {
        let ann = try await Person()
        let (one, two) = (try await ann.makeZone(), try await ann.makeZone())
        let token = try await ann.own.recordZoneChanges(inZoneWith: one).changeToken
        #expect(
            await failure { _ = try await ann.own.recordZoneChanges(inZoneWith: two, since: token) }
                == .changeTokenExpired)
        // A token of the zone's earlier life.
        try await ann.own.deleteRecordZone(withID: one)
        try await ann.own.save(RecordZone(zoneID: one))
        #expect(
            await failure { _ = try await ann.own.recordZoneChanges(inZoneWith: one, since: token) }
                == .changeTokenExpired)
    }

    @Test func constraintViolation() async throws {
        let ann = try await Person()
        let file = folder.appendingPathComponent("account.json")
        try KeyFile.write(ann.account, to: file, passphrase: nil)
        let before = try Data(contentsOf: file)
        #expect(await failure { try KeyFile.write(ann.account, to: file, passphrase: nil) } == .constraintViolation)
        #expect(try Data(contentsOf: file) == before)
    }

    @Test func operationCancelled() async throws {
        let ann = try await Person()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { _ = try await ann.own.allRecordZones() }
        }
        #expect(await task.value == .operationCancelled)
    }

    @Test func internalError() async throws {
        #expect(await failure { _ = try TrustStore(file: folder) } == .internalError)
    }

    // MARK: Records

    @Test func unknownItemAndZoneNotFound() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let nowhere = RecordZone.ID(zoneName: "nowhere")
        #expect(
            await failure { _ = try await ann.own.record(for: Record.ID(recordName: "x", zoneID: zone)) }
                == .unknownItem)
        #expect(
            await failure { _ = try await ann.own.record(for: Record.ID(recordName: "x", zoneID: nowhere)) }
                == .zoneNotFound)
        // In one request, each for itself, beside what is there.
        let note = try await ann.own.save(ann.note(in: zone, "x"))
        let absent = Record.ID(recordName: "x", zoneID: zone)
        let outside = Record.ID(recordName: "x", zoneID: nowhere)
        let results = try await ann.own.records(for: [note.recordID, absent, outside])
        #expect(try results[note.recordID]?.get().recordID == note.recordID)
        #expect(results[absent]?.failureCode == .unknownItem)
        #expect(results[outside]?.failureCode == .zoneNotFound)
    }

    @Test func serverRecordChangedAndBatchRequestFailed() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let first = try await ann.own.save(ann.note(in: zone, "first", name: "note"))
        var second = first
        second.encryptedValues["body"] = "second"
        try await ann.own.save(second)
        var late = first
        late.encryptedValues["body"] = "late"
        let sibling = ann.note(in: zone, "sibling", name: "sibling")
        let results = try await ann.own.modifyRecords(saving: [late, sibling])
        #expect(results.saveResults[late.recordID]?.failureCode == .serverRecordChanged)
        #expect(results.saveResults[sibling.recordID]?.failureCode == .batchRequestFailed)
        guard case .failure(let error)? = results.saveResults[late.recordID] else { return }
        #expect(error.serverRecord?.encryptedValues["body"] == "second")
        #expect(error.clientRecord?.encryptedValues["body"] == "late")
        #expect(await failure { _ = try await ann.own.record(for: sibling.recordID) } == .unknownItem)
    }

    @Test func referenceViolation() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var child = ann.note(in: zone, "x")
        child.parent = Record.Reference(recordName: "nobody")
        #expect(await failure { try await ann.own.save(child) } == .referenceViolation)
    }

    // MARK: The table

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Each code has a row, and each row's test exists.
    @Test func theTableOfErrorsIsComplete() throws {
        let table = try String(
            contentsOf: Self.root.appendingPathComponent("Sources/SealKit/Documentation.docc/Errors.md"),
            encoding: .utf8)
        var tests: [String: String] = [:]
        for line in table.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let name = cells[0].trimmingCharacters(in: CharacterSet(charactersIn: "`"))
            tests[name] = cells.last ?? ""
        }
        let folder = Self.root.appendingPathComponent("Tests")
        let sources = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
            .map { (name: $0, text: try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)) }
        for code in ErrorCode.allCases {
            let cell = try #require(tests[code.rawValue], "\(code.rawValue) has no row")
            guard !cell.hasPrefix("not raised") else { continue }
            let parts = cell.trimmingCharacters(in: CharacterSet(charactersIn: "`")).split(separator: ".", maxSplits: 1)
            let (suite, test) = (try #require(parts.first), try #require(parts.last))
            #expect(
                sources.contains { $0.name.contains("/\(suite)") && $0.text.contains("func \(test)(") },
                "\(code.rawValue): \(cell)")
        }
    }
}
