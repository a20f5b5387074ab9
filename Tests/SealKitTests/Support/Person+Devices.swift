import Foundation
import SealEnvelope
import SealLab
import Testing

@testable import SealKit

extension Account {
    /// One whose user has a good memory.
    @discardableResult
    func renewRecoveryKey() async throws(SealKitError) -> RecoveryKey {
        try await renewRecoveryKey { _ async throws(SealKitError) in }
    }
}

extension Person {
    /// The same person on the device that the store is of.
    func device(_ name: String, trust: TrustStore) throws -> Account {
        let account = try Account(
            seeds: account.seeds, transport: HTTPTransport(server: server.origin), deviceName: name)
        account.deviceKeeper.attach(trust)
        return account
    }
}

extension DeviceEnrolment {
    /// On a device of its own: in this process there are many.
    static func onItsOwn(_ server: any Transport, _ name: String = "new") async throws -> DeviceEnrolment {
        try await begin(client: Client(transport: server), deviceName: name, turns: EnrolmentTurns())
    }
}

/// Both halves of an enrolment, as far as the comparison.
struct EnrolmentInProgress {
    let new: DeviceEnrolment
    let old: DeviceApproval

    init(_ account: Account, server: any Transport, name: String = "new") async throws {
        new = try await DeviceEnrolment.onItsOwn(server, name)
        old = try await account.approveDevice(new.invitation)
    }

    /// What each device shows.
    func comparisons() async throws -> (new: EnrolmentComparison, old: EnrolmentComparison) {
        async let seen = new.comparison()
        let own = try await old.comparison()
        return (try await seen, own)
    }

    /// Both users say yes.
    func confirm(trust: TrustStore) async throws -> Account {
        let (here, there) = try await comparisons()
        #expect(here == there)
        try await old.confirm()
        return try await new.confirm(trust: trust)
    }
}
