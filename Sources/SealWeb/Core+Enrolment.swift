import SealClient
import SealEnvelope
import SealHPKE
import SealPrimitives
import SealStatements

/// An account that comes to the browser from a device that has it: the new device's half.
extension Core {
    /// → The handle of an enrolment, what the other device is to be given, and the request that opens its mailbox.
    mutating func newEnrolment(_ writer: inout CanonicalWriter) throws(SealError) {
        let device = try Enrolment.NewDevice<SodiumHPKE>(random: &random)
        writer.number(enrolments.insert(VisitorEnrolment(device), &last))
        writer.string(EnrolmentInvitation.text(device.enrolmentID))
        var request = Wire.OpenEnrolmentRequest()
        request.enrolmentID = device.enrolmentID.bytes
        request.commitment = device.commitment.bytes
        writer.blob(request.protobuf())
    }

    /// An enrolment, the answer → nothing: it is open.
    func enrolmentOpened(_ reader: inout CanonicalReader) throws(SealError) {
        let enrolment = try enrolments[try reader.number()]
        let answer = try Wire.OpenEnrolmentResponse(protobuf: try reader.blob(atMost: reader.remaining))
        enrolment.ticket = answer.ticket
    }

    /// An enrolment → the question what the other device has sent, and the request that ends it.
    func enrolmentRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let enrolment = try enrolments[try reader.number()]
        var request = Wire.EnrolmentStateRequest()
        (request.enrolmentID, request.ticket) = (enrolment.device.enrolmentID.bytes, enrolment.ticket)
        writer.blob(request.protobuf())
        var end = Wire.EndEnrolmentRequest()
        (end.enrolmentID, end.ticket) = (request.enrolmentID, request.ticket)
        writer.blob(end.protobuf())
    }

    /// An enrolment, the answer → whether the other device has answered; then the six digits that both show, and the
    /// request that reveals what was committed to.
    func enrolmentAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let enrolment = try enrolments[try reader.number()]
        let state = try Wire.EnrolmentStateResponse(protobuf: try reader.blob(atMost: reader.remaining))
        writer.flag(!state.answer.isEmpty)
        guard !state.answer.isEmpty else { return }
        writer.string(try enrolment.see(state).code)
        var request = Wire.RevealEnrolmentRequest()
        (request.enrolmentID, request.ticket) = (enrolment.device.enrolmentID.bytes, enrolment.ticket)
        (request.grantKey, request.nonce) = (enrolment.device.reveal.grantKey, enrolment.device.reveal.nonce.bytes)
        writer.blob(request.protobuf())
    }

    /// An enrolment whose digits the visitor has seen on both devices, the answer, the device's name, time → whether
    /// the account has come, and its handle.
    mutating func enrolledVisitor(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let enrolment = try enrolments[try reader.number()]
        let state = try Wire.EnrolmentStateResponse(protobuf: try reader.blob(atMost: reader.remaining))
        let name = try reader.string(atMost: Limits.nameBytes)
        let time: Int64 = try reader.number()
        guard let transcript = enrolment.transcript else { throw .missingKey }
        writer.flag(!state.sealed.isEmpty)
        guard !state.sealed.isEmpty else { return }
        let package = try enrolment.device.open(state.sealed, confirmed: transcript.confirmedByUser())
        var visitor = try Visitor(package.seeds, deviceName: name, time: time, isKept: true, random: &random)
        visitor.device.id = enrolment.device.enrolmentID
        visitor.heads = package.heads
        writer.number(visitors.insert(visitor, &last))
    }
}

/// This browser as a device that joins an account.
final class VisitorEnrolment {
    let device: Enrolment.NewDevice<SodiumHPKE>
    var ticket: [UInt8] = []
    /// The first answer counts: another one never replaces it.
    private(set) var transcript: Enrolment.Transcript?

    init(_ device: Enrolment.NewDevice<SodiumHPKE>) { self.device = device }

    func see(_ state: Wire.EnrolmentStateResponse) throws(SealError) -> Enrolment.Transcript {
        if let transcript { return transcript }
        let seen = try device.transcript(
            answer: try Digest(state.answer), loginKey: try VerificationKey(state.loginKey))
        transcript = seen
        return seen
    }
}
