import Hummingbird
import SealService
import SealWire

/// `devices/enrol/…`: passing messages between a device that has the account and one that is to get it.
struct EnrolmentController: Sendable {
    let enrolment: DeviceEnrolment

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.devices.openEnrolment) { try await enrolment.open($0, from: $1.context.client) }
        router.on(Endpoints.devices.claimEnrolment) { try await enrolment.claim($0, by: $1.session) }
        router.on(Endpoints.devices.answerEnrolment) { message, call in
            try await enrolment.answer(message, by: call.session)
            return Sealkit_V1_EnrolmentResponse()
        }
        router.on(Endpoints.devices.revealEnrolment) { message, call in
            try await enrolment.reveal(message, by: call.context.requireSession)
            return Sealkit_V1_EnrolmentResponse()
        }
        router.on(Endpoints.devices.deliverEnrolment) { message, call in
            try await enrolment.deliver(message, by: call.session)
            return Sealkit_V1_EnrolmentResponse()
        }
        router.on(Endpoints.devices.enrolmentState) { try await enrolment.state($0, by: $1.context.requireSession) }
        router.on(Endpoints.devices.endEnrolment) { message, call in
            try await enrolment.end(message, by: call.context.requireSession)
            return Sealkit_V1_EnrolmentResponse()
        }
    }
}
