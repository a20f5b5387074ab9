extension Endpoints {
    public static let devices = DeviceEndpoints()
}

/// An account's devices, and the enrolment of another.
public struct DeviceEndpoints: Sendable {
    public let list = Endpoint<BySession, Sealkit_V1_ListDevicesRequest, Sealkit_V1_DevicesResponse>(
        "devices/list", path: "1/devices/list", BySession(needsUser: false),
        again: .read, work: .read(feedPage),
        refusals: [.message, .session],
        about: "all devices that may log in, in the order of their coming")

    public let name = Endpoint<BySession, Sealkit_V1_NameDeviceRequest, Sealkit_V1_DevicesResponse>(
        "devices/name", path: "1/devices/name", BySession(needsUser: false),
        again: .same, work: .write(1),
        refusals: [.message, .session, .stored, .code(.unknownItem)],
        about: """
            another name for a device, under a new `device` signature over the same id and time. A signature that does \
            not hold is `notAuthenticated`
            """)

    public let revoke = Endpoint<BySession, Sealkit_V1_RevokeDeviceRequest, Sealkit_V1_DevicesResponse>(
        "devices/revoke", path: "1/devices/revoke", BySession(needsUser: false),
        again: .same, work: .request,
        refusals: [.message, .session, .stored, .code(.unknownItem)],
        about: """
            ends the device's sessions and refuses its logins. A device MAY remove itself; again is then \
            `sessionExpired`
            """)

    public let openEnrolment = Endpoint<ByAnyone, Sealkit_V1_OpenEnrolmentRequest, Sealkit_V1_OpenEnrolmentResponse>(
        "devices/enrol/open", path: "1/devices/enrol/open", ByAnyone(),
        again: .once, work: .request,
        refusals: [.message, .stored, .code(.constraintViolation)],
        about: """
            the new device opens a mailbox. Again: the id is taken; a client whose ticket was lost makes a new id
            """)

    public let claimEnrolment = Endpoint<
        BySession, Sealkit_V1_ClaimEnrolmentRequest, Sealkit_V1_ClaimEnrolmentResponse
    >(
        "devices/enrol/claim", path: "1/devices/enrol/claim", BySession(needsUser: false),
        again: .same, work: .write(1),
        refusals: [.message, .session, .stored, .code(.unknownItem), .code(.constraintViolation)],
        about: "the old device takes it for its account; the first account has it")

    public let answerEnrolment = Endpoint<BySession, Sealkit_V1_AnswerEnrolmentRequest, Sealkit_V1_EnrolmentResponse>(
        "devices/enrol/answer", path: "1/devices/enrol/answer", BySession(needsUser: false),
        again: .same, work: .write(1),
        refusals: [.message, .session, .stored, .code(.unknownItem), .code(.constraintViolation)],
        about: "message 2")

    public let revealEnrolment = Endpoint<ByTicket, Sealkit_V1_RevealEnrolmentRequest, Sealkit_V1_EnrolmentResponse>(
        "devices/enrol/reveal", path: "1/devices/enrol/reveal", ByTicket(orSession: false),
        again: .same, work: .write(1),
        refusals: [.message, .stored, .code(.unknownItem), .code(.constraintViolation), .code(.serverRejectedRequest)],
        about: "message 3, not before message 2")

    public let deliverEnrolment = Endpoint<BySession, Sealkit_V1_DeliverEnrolmentRequest, Sealkit_V1_EnrolmentResponse>(
        "devices/enrol/deliver", path: "1/devices/enrol/deliver", BySession(needsUser: false),
        again: .same, work: .write(1),
        refusals: [
            .message, .session, .stored, .code(.unknownItem), .code(.constraintViolation),
            .code(.serverRejectedRequest),
        ],
        about: "message 4, not before message 3")

    public let enrolmentState = Endpoint<ByTicket, Sealkit_V1_EnrolmentStateRequest, Sealkit_V1_EnrolmentStateResponse>(
        "devices/enrol/state", path: "1/devices/enrol/state", ByTicket(orSession: true),
        again: .read, work: .request,
        refusals: [.message, .session, .code(.unknownItem)],
        about: "what the other device has sent so far. A client asks about twice a second")

    public let endEnrolment = Endpoint<ByTicket, Sealkit_V1_EndEnrolmentRequest, Sealkit_V1_EnrolmentResponse>(
        "devices/enrol/end", path: "1/devices/enrol/end", ByTicket(orSession: true),
        again: .same, work: .write(1),
        refusals: [.message, .session, .stored],
        about: "nothing is kept of it")
}
