import Foundation
import SealEnvelope
import SealPrimitives
import SealWire
import SwiftProtobuf

/// One device's side of an enrolment on the server, which may be anybody: it passes messages on.
struct EnrolmentMailbox: Sendable {
    let id: ID16
    /// The new device's; nil for the old one, which asks by its account.
    let ticket: Data?
    let client: Client
    let account: Account?
    let turn: EnrolmentTurn

    /// Waits until the other device has sent something.
    /// - Throws: `unknownItem` when the other device has ended it, or its time is over; `operationCancelled`.
    func wait<T>(
        for message: (Sealkit_V1_EnrolmentStateResponse) -> T?
    ) async throws(SealKitError) -> T {
        let request = Sealkit_V1_EnrolmentStateRequest.with {
            $0.enrolmentID = Data(id.bytes)
            $0.ticket = ticket ?? Data()
        }
        while true {
            let state: Sealkit_V1_EnrolmentStateResponse = try await send(Endpoints.devices.enrolmentState, request)
            if let found = message(state) { return found }
            do { try await client.pacing.sleep(.milliseconds(500)) } catch { throw .cancelled }
        }
    }

    func send<Access: RootAccess, Request: Message, Response: Message>(
        _ endpoint: Endpoint<Access, Request, Response>, _ request: Request
    ) async throws(SealKitError) -> Response {
        do throws(SealKitError) {
            if let account { return try await account.call(endpoint, request) }
            return try await client.call(endpoint, request)
        } catch {
            // The other device has ended it, or its time is over. What begins the next one is its user's word.
            if error.code == .unknownItem { turn.end() }
            throw error
        }
    }

    /// Nothing is left of it on the server; what fails goes by itself, after ten minutes.
    func end() async {
        turn.end()
        let request = Sealkit_V1_EndEnrolmentRequest.with {
            $0.enrolmentID = Data(id.bytes)
            $0.ticket = ticket ?? Data()
        }
        _ = try? await send(Endpoints.devices.endEnrolment, request)
    }
}

extension EnrolmentMailbox: CustomStringConvertible, CustomReflectable {
    /// Without the ticket.
    var description: String { "EnrolmentMailbox" }
    var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
