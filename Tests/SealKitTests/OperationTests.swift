import Foundation
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealKit

/// How long a call tries, what it waits for, and how it is ended.
@Suite(.timeLimit(.minutes(60))) struct OperationTests {
    func away(
        _ person: Person, losing suffix: String, _ losses: [LossyTransport.Loss]
    ) throws -> (person: Person, network: LossyTransport, pacing: FakePacing) {
        let network = LossyTransport(try HTTPTransport(server: person.server.origin), losing: suffix, losses)
        let pacing = FakePacing()
        return (try person.through(network, pacing: pacing.pacing), network, pacing)
    }

    func refusal(_ code: SealKitError.Code, after seconds: Double?) -> LossyTransport.Loss {
        .refusal(SealKitError(code, "the test refused it", retryAfter: seconds))
    }

    // MARK: Quality of service

    @Test(arguments: [QualityOfService.userInteractive, .userInitiated, .default])
    func whoHasSomebodyWaitingGivesUpAfterAMinute(quality: QualityOfService) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (away, network, pacing) = try away(ann, losing: "records/lookup", Array(repeating: .answer, count: 10_000))
        let configuration = OperationConfiguration(qualityOfService: quality)
        let code = await failure {
            _ = try await away.own.configuredWith(configuration: configuration) {
                try await $0.record(for: Record.ID(recordName: "x", zoneID: zone))
            }
        }
        #expect(code == .networkFailure)
        let slept = pacing.sleeps.reduce(Duration.zero, +)
        #expect(slept <= .seconds(60))
        #expect(slept > .seconds(25))
        #expect(network.bodies.count == pacing.sleeps.count + 1)
    }

    @Test(arguments: [QualityOfService.utility, .background])
    func whoHasNobodyWaitingWaitsForTheNetwork(quality: QualityOfService) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "x"))
        // Two days without network, at half a minute an attempt.
        let (away, _, pacing) = try away(ann, losing: "records/lookup", Array(repeating: .request, count: 5_760))
        let found = try await away.own.configuredWith(configuration: OperationConfiguration(qualityOfService: quality))
        {
            try await $0.record(for: note.recordID)
        }
        #expect(found.recordID == note.recordID)
        #expect(pacing.sleeps.reduce(Duration.zero, +) > .seconds(170_000))

        let (second, _, limited) = try self.away(
            ann, losing: "records/lookup", Array(repeating: .request, count: 5_760))
        let configuration = OperationConfiguration(qualityOfService: quality, timeoutIntervalForResource: 3600)
        let code = await failure {
            _ = try await second.own.configuredWith(configuration: configuration) {
                try await $0.record(for: note.recordID)
            }
        }
        #expect(code == .networkFailure)
        #expect(limited.sleeps.reduce(Duration.zero, +) <= .seconds(3600))
    }

    @Test func waitsAreDoubledAndDrawnUpToHalfAMinute() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (away, _, pacing) = try away(ann, losing: "records/lookup", Array(repeating: .answer, count: 12))
        _ = await failure {
            _ = try await away.own.configuredWith(configuration: OperationConfiguration(qualityOfService: .utility)) {
                try await $0.record(for: Record.ID(recordName: "x", zoneID: zone))
            }
        }
        #expect(
            pacing.sleeps
                == [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000].map {
                    .milliseconds($0)
                })
    }

    // MARK: Throttles

    @Test(arguments: [SealKitError.Code.requestRateLimited, .serviceUnavailable, .zoneBusy])
    func theTimeThatTheServerNamesIsWaitedFor(code: SealKitError.Code) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (away, network, pacing) = try away(ann, losing: "records/modify", [refusal(code, after: 20)])
        try await away.own.save(ann.note(in: zone, "x"))
        #expect(pacing.sleeps == [.milliseconds(20_100)])
        #expect(network.bodies.count == 2)
        #expect(Set(network.bodies).count == 1)
    }

    @Test func aThrottleHoldsItsClassOfCallsBackOnThisDeviceAndNoOther() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "x"))
        let (away, network, pacing) = try away(ann, losing: "records/modify", [refusal(.serviceUnavailable, after: 90)])
        func save() async -> SealKitError? {
            do {
                try await away.own.save(ann.note(in: zone, "y"))
                return nil
            } catch {
                return error
            }
        }
        #expect(await save()?.retryAfter == 90)
        pacing.advance(.seconds(10))
        // Not asked again, and told how long that lasts; nothing else waits.
        let held = await save()
        #expect(held?.code == .serviceUnavailable)
        #expect(held?.retryAfter == 80)
        #expect(held?.reason.contains("held back on this device") == true)
        #expect(network.bodies.count == 1)
        #expect(pacing.sleeps.isEmpty)
        #expect(try await away.own.record(for: note.recordID).recordID == note.recordID)
        // Once what is left fits into a minute, the call waits and goes through.
        pacing.advance(.seconds(40))
        #expect(await save() == nil)
        #expect(pacing.sleeps == [.seconds(41)])
        #expect(network.bodies.count == 2)
    }

    /// It is one zone that has much to do: calls about others are not held back for it.
    @Test func aBusyZoneHoldsNothingElseBack() async throws {
        let ann = try await Person()
        let (busy, free) = (try await ann.makeZone(), try await ann.makeZone())
        let (away, network, pacing) = try away(ann, losing: "records/modify", [refusal(.zoneBusy, after: 90)])
        #expect(await failure { try await away.own.save(ann.note(in: busy, "x")) } == .zoneBusy)
        try await away.own.save(ann.note(in: free, "y"))
        #expect(network.bodies.count == 2)
        #expect(pacing.sleeps.isEmpty)
    }

    @Test func whatTheServerRefusesForGoodIsNotRepeated() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        for code in [SealKitError.Code.permissionFailure, .quotaExceeded, .internalError, .storageFull, .limitExceeded]
        {
            let (away, network, pacing) = try away(ann, losing: "records/modify", [refusal(code, after: 1)])
            #expect(await failure { try await away.own.save(ann.note(in: zone, "x")) } == code)
            #expect(network.bodies.count == 1)
            #expect(pacing.sleeps.isEmpty)
        }
    }

    /// A server of nonsense does not make the SDK overflow, or sleep for ever.
    @Test(arguments: [Double.infinity, .nan, -1, 1e300, .greatestFiniteMagnitude])
    func timesToWaitAreTakenWithinReason(seconds: Double) {
        let error = SealKitError(Sealkit_V1_Failure(.serviceUnavailable, "x", retryAfter: seconds))
        #expect(error.retryAfter == nil || (0...604_800).contains(error.retryAfter ?? -1))
    }

    // MARK: Time-outs

    @Test func aServerThatSaysNothingIsGivenUp() async throws {
        let silent = try SilentServer()
        let ann = try await Person()
        let stuck = try ann.through(try HTTPTransport(server: silent.origin))
        for configuration in [
            OperationConfiguration(timeoutIntervalForRequest: 0.1, timeoutIntervalForResource: 0.5),
            OperationConfiguration(timeoutIntervalForResource: 0.3),
        ] {
            let code = await failure {
                try await stuck.container.configuredWith(configuration: configuration) {
                    _ = try await $0.privateDatabase.allRecordZones()
                }
            }
            #expect(code == .networkFailure)
        }
        var configuration = HTTPTransport.Configuration()
        configuration.requestTimeout = 0.1
        let impatient = try HTTPTransport(server: silent.origin, configuration: configuration)
        // A busy machine may take longer than that to connect, and then no answer is lost.
        var code: SealKitError.Code? = .networkFailure
        for _ in 0..<100 where code == .networkFailure {
            code = await failure { _ = try await impatient.post("/", body: Data(), token: nil) }
        }
        #expect(code == .serverResponseLost)
    }

    /// The server takes an upload's first bytes and no more: that is no progress, whatever is left to send.
    @Test func anUploadThatDoesNotMoveIsGivenUp() async throws {
        let silent = try SilentServer()
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("large")
        try pattern(30_000_000).write(to: file)
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let stuck = try ann.through(
            SplitTransport(
                try HTTPTransport(server: ann.server.origin), assets: try HTTPTransport(server: silent.origin)))
        var note = ann.note(in: zone, "x")
        note["file"] = Asset(fileURL: file)
        let unsaved = note
        let configuration = OperationConfiguration(timeoutIntervalForRequest: 0.2, timeoutIntervalForResource: 1)
        let code = await failure {
            _ = try await stuck.own.configuredWith(configuration: configuration) { try await $0.save(unsaved) }
        }
        #expect(code == .networkFailure)
        #expect(await failure { _ = try await ann.own.record(for: note.recordID) } == .unknownItem)
    }

    @Test(arguments: [0, -1, .infinity, .nan, 1e300])
    func timeOutsThatCannotBeKeptAreRefused(seconds: Double) async throws {
        let ann = try await Person()
        for configuration in [
            OperationConfiguration(timeoutIntervalForRequest: seconds),
            OperationConfiguration(timeoutIntervalForResource: seconds),
        ] {
            let code = await failure {
                _ = try await ann.own.configuredWith(configuration: configuration) { try await $0.allRecordZones() }
            }
            #expect(code == .invalidArguments)
        }
        var configuration = HTTPTransport.Configuration()
        configuration.requestTimeout = seconds
        #expect(
            await failure { _ = try HTTPTransport(server: "http://localhost", configuration: configuration) }
                == .invalidArguments)
    }

    @Test func configurationsAndGroupsHoldForTheBodyAndNoLonger() async throws {
        let ann = try await Person()
        let slow = OperationConfiguration(qualityOfService: .background)
        var group = OperationGroup(name: "import")
        group.defaultConfiguration = OperationConfiguration(timeoutIntervalForRequest: 5)
        let database = ann.own
        #expect(OperationContext.current.chosen == nil)
        await database.configuredWith(group: group) { database in
            #expect(OperationContext.current.chosen == group.defaultConfiguration)
            await database.configuredWith(configuration: slow) { _ in
                #expect(OperationContext.current.chosen == slow)
                #expect(OperationContext.current.group == group)
                async let child = OperationContext.current.chosen
                #expect(await child == slow)
            }
            #expect(OperationContext.current.chosen == group.defaultConfiguration)
        }
        #expect(OperationContext.current.chosen == nil)
    }

    @Test func anOperationGroupIsFoundInTheServersLogWithoutItsName() async throws {
        let ann = try await Person()
        var group = OperationGroup(name: "canary-name")
        group.quantity = 12
        group.expectedSendSize = .megabytes
        _ = try await ann.own.configuredWith(group: group) { try await $0.allRecordZones() }
        let log = try String(contentsOf: ann.server.folder.appendingPathComponent("server.log"), encoding: .utf8)
        let line = try #require(log.split(separator: "\n").first { $0.contains(group.operationGroupID) })
        #expect(line.contains("zones/lookup"))
        #expect(line.contains("12"))
        #expect(!log.contains("canary-name"))
    }
}
