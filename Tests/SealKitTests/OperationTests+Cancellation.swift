import Foundation
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealKit

extension OperationTests {
    // MARK: Cancellation

    @Test func aCancelledCallEndsWhileItWaitsForTheServer() async throws {
        let silent = try SilentServer()
        let ann = try await Person()
        let stuck = try ann.through(try HTTPTransport(server: silent.origin))
        let task = Task { await failure { _ = try await stuck.own.allRecordZones() } }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        #expect(await task.value == .operationCancelled)
    }

    @Test func aCancelledCallEndsWhileItWaitsForTheNextAttempt() async throws {
        let ann = try await Person()
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "zones/lookup",
            [refusal(.serviceUnavailable, after: 50)])
        var pacing = FakePacing().pacing
        let isWaiting = LockedValue(false)
        pacing.sleep = { _ in
            isWaiting.change { $0 = true }
            try await Task.sleep(for: .seconds(3600))
        }
        let away = try ann.through(network, pacing: pacing)
        let task = Task { await failure { _ = try await away.own.allRecordZones() } }
        while !isWaiting.value { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        #expect(await task.value == .operationCancelled)
    }

    /// One caller's cancellation is not another's: they wait for the same login.
    @Test func aLoginThatOthersWaitForGoesOn() async throws {
        let ann = try await Person()
        let gate = HoldingTransport(try HTTPTransport(server: ann.server.origin), holding: "accounts/login")
        let away = try ann.through(gate)
        let first = Task { await failure { _ = try await away.own.allRecordZones() } }
        await gate.reached()
        let second = Task { await failure { _ = try await away.own.allRecordZones() } }
        first.cancel()
        #expect(await first.value == .operationCancelled)
        gate.open()
        #expect(await second.value == nil)
        #expect(gate.count == 1)
    }

    /// A save and a zone's making and sharing, cancelled before and after each request: what this device knows stays
    /// whole, and everything can be done again.
    @Test(arguments: [true, false]) func cancelledAnywhereNothingIsHalfDoneHere(afterwards: Bool) async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let invitee = try await ann.container.shareParticipant(
            forUserRecordID: bob.container.userRecordID(), permission: .readWrite)
        var finished = false
        for step in 1..<60 where !finished {
            let network = CancellingTransport(
                try HTTPTransport(server: ann.server.origin), at: step, afterwards: afterwards)
            let away = try ann.through(network)
            try await away.account.requireSession()
            network.arm()
            let zone = RecordZone.ID(zoneName: "zone-\(afterwards)-\(step)")
            let note = ann.note(in: zone, "first", name: "note")
            let work = Task { () -> SealKitError.Code? in
                await failure {
                    try await away.own.save(RecordZone(zoneID: zone))
                    try await away.own.save(note)
                    var share = Share(recordZoneID: zone)
                    share.addParticipant(invitee)
                    try await away.own.save(share)
                    try await away.own.deleteRecord(withID: note.recordID)
                }
            }
            let code = await work.value
            finished = code == nil
            if !finished { #expect(code == .operationCancelled, "step \(step)") }
            // The same device, with what it has kept, does all of it again.
            try await ann.own.save(RecordZone(zoneID: zone))
            let results = try await ann.own.modifyRecords(saving: [note], savePolicy: .allKeys)
            _ = try results.saveResults[note.recordID]?.get()
            #expect(try await ann.own.record(for: note.recordID).encryptedValues["body"] == "first")
            var share = Share(recordZoneID: zone)
            share.addParticipant(invitee)
            let saved = try await ann.own.save(share)
            #expect(saved.participants.contains { $0.userIdentity.userRecordID?.recordName == bob.name })
            #expect(
                try await ann.own.recordZoneChanges(inZoneWith: zone).modifications.contains {
                    $0.recordID == note.recordID
                })
        }
        #expect(finished, "the work has fewer requests than steps")
    }
}
