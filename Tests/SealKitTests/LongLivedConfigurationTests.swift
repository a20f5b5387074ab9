import Foundation
import SealLab
import SealPrimitives
import Testing

@testable import SealKit

/// What a long-lived operation goes by.
@Suite(.timeLimit(.minutes(60))) struct LongLivedConfigurationTests {
    private let patient = OperationConfiguration(
        qualityOfService: .utility, timeoutIntervalForRequest: 7, timeoutIntervalForResource: 3_600)

    private struct Device {
        let container: Container
        let transport: SwitchedTransport
        let pacing = FakePacing()

        init(_ person: Person, _ journal: OperationJournal) throws {
            transport = SwitchedTransport(try HTTPTransport(server: person.server.origin))
            let client = Client(transport: transport, pacing: pacing.pacing)
            container = try Container(
                person.container.containerIdentifier,
                account: try Account(seeds: person.account.seeds, client: client), trust: try TrustStore(),
                journal: journal)
        }

        /// How long it has waited for a network, in all.
        var waited: Duration { pacing.sleeps.reduce(.zero, +) }
    }

    @Test func itGoesByWhatItWasBegunWith() async throws {
        let (ann, folder) = (try await Person(), try TemporaryFolder())
        let note = try await ann.own.save(ann.note(in: try await ann.makeZone(), "x"))
        let device = try Device(ann, try OperationJournal(file: folder.url.appendingPathComponent("journal")))
        let begun = try await device.container.privateDatabase.configuredWith(configuration: patient) { database in
            try await database.beginFetchingRecords(for: [note.recordID])
        }
        let kept = try await device.container.longLivedOperation(withID: begun.operationID)
        #expect(kept?.configuration == patient)
        guard case .fetchRecords(let fetch)? = kept else { throw SealKitError(.internalError, "no fetch is kept") }
        device.transport.turn(on: false)
        #expect(await failure { _ = try await fetch.results() } == .networkFailure)
        #expect(device.waited > .seconds(3_000))
        let before = device.waited
        let outcome = await failure {
            try await device.container.configuredWith(configuration: OperationConfiguration()) { _ in
                _ = try await fetch.results()
            }
        }
        #expect(outcome == .networkFailure)
        #expect(device.waited - before < .seconds(61), "what the task itself goes by counts first")
        device.transport.turn(on: true)
        #expect(try await fetch.results()[note.recordID]?.isSuccess == true)
    }

    @Test func withoutAConfigurationItHasNone() async throws {
        let (ann, folder) = (try await Person(), try TemporaryFolder())
        let device = try Device(ann, try OperationJournal(file: folder.url.appendingPathComponent("journal")))
        let draft = Record(recordType: "Note", zoneID: try await ann.makeZone())
        let begun = try await device.container.privateDatabase.beginModifyingRecords(saving: [draft])
        #expect(begun.configuration == nil)
        #expect(try await device.container.longLivedOperation(withID: begun.operationID)?.configuration == nil)
    }

    @Test func timeOutsThatCannotBeKeptAreRefused() async throws {
        let (ann, folder) = (try await Person(), try TemporaryFolder())
        let device = try Device(ann, try OperationJournal(file: folder.url.appendingPathComponent("journal")))
        let outcome = await failure {
            let wrong = OperationConfiguration(timeoutIntervalForRequest: 0)
            try await device.container.privateDatabase.configuredWith(configuration: wrong) { database in
                _ = try await database.beginFetchingRecords(for: [Record.ID(recordName: "a")])
            }
        }
        #expect(outcome == .invalidArguments)
        #expect(try await device.container.longLivedOperations.isEmpty)
    }

    /// What is on the disk already is gone on with.
    @Test func whatTheFormerVersionHasKeptIsRead() throws {
        let ids = [Record.ID(recordName: "a")]
        let input = JournaledInput(
            container: "org.example.app", environment: .production, scope: .shared, started: 5, configuration: nil,
            content: .fetch(ids, desiredKeys: ["body"]))
        var former = CanonicalWriter(capacity: 64)
        former.number(UInt8(1))
        former.string(input.container)
        former.number(input.environment.rawValue)
        former.number(UInt8(input.scope.rawValue))
        former.time(input.started)
        let rest = try input.bytes().dropFirst(former.bytes.count + 1)
        let read = try JournaledInput(former.bytes + rest)
        #expect(read.configuration == nil)
        #expect(read.scope == .shared)
        guard case .fetch(let wanted, let keys) = read.content else { throw SealKitError(.internalError, "no fetch") }
        #expect(wanted == ids)
        #expect(keys == ["body"])
        #expect(throws: SealError.unsupported) { try JournaledInput([3] + former.bytes.dropFirst() + rest) }
    }

    @Test func aConfigurationIsReadAsItWasWritten() throws {
        for quality in [QualityOfService.userInteractive, .userInitiated, .default, .utility, .background] {
            let configuration = OperationConfiguration(
                qualityOfService: quality, timeoutIntervalForRequest: 0.001, timeoutIntervalForResource: 315_360_000)
            let input = JournaledInput(
                container: "org.example.app", environment: .development, scope: .private, started: 5,
                configuration: configuration, content: .fetch([], desiredKeys: nil))
            #expect(try JournaledInput(input.bytes()).configuration == configuration)
        }
    }
}
