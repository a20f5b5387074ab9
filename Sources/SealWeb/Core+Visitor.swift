import SealClient
import SealEnvelope
import SealHPKE
import SealPrimitives
import SealStatements

/// A visitor's account: made, brought back, logged in to.
extension Core {
    /// The device's name, time → the handle of a new account.
    mutating func newVisitor(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let visitor = try Visitor(
            [AccountSeed(random: &random)], deviceName: try reader.string(atMost: Limits.nameBytes),
            time: try reader.number(), isKept: false, random: &random)
        writer.number(visitors.insert(visitor, &last))
    }

    /// A recovery key → the request for its bundle.
    func recoverRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        var request = Wire.RecoverRequest()
        request.recoveryID = try recoveryKeys[try reader.number()].bundleID.bytes
        writer.blob(request.protobuf())
    }

    /// A recovery key, the answer, the device's name, time → the handle of the account that comes back.
    mutating func recoverAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let key = try recoveryKeys[try reader.number()]
        let answer = try Wire.RecoverResponse(protobuf: try reader.blob(atMost: reader.remaining))
        let visitor = try Visitor(
            try key.open(answer.sealed), deviceName: try reader.string(atMost: Limits.nameBytes),
            time: try reader.number(), isKept: true, random: &random)
        writer.number(visitors.insert(visitor, &last))
    }

    /// A visitor → what the same account has always, and its device: id, name, time. None of it is secret.
    func device(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let visitor = try visitors[try reader.number()]
        writer.blob(visitor.keys.rootKey.bytes)
        writer.id(visitor.device.id)
        writer.string(visitor.device.name)
        writer.number(visitor.device.added)
    }

    /// A visitor, id, name and time of a device → nothing. It is the same device in this browser each time.
    mutating func setDevice(_ reader: inout CanonicalReader) throws(SealError) {
        let handle: UInt32 = try reader.number()
        var visitor = try visitors[handle]
        visitor.device = (
            try reader.id(), try reader.string(atMost: Limits.nameBytes), try reader.number()
        )
        visitors.replace(handle, visitor)
    }

    /// A visitor → the request for a challenge.
    func challengeRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        var request = Wire.ChallengeRequest()
        request.loginKey = try visitors[try reader.number()].keys.loginKey.verificationKey.bytes
        writer.blob(request.protobuf())
    }

    /// A visitor, the challenge's answer, the server's origin, time, the recovery key that it comes back by and its
    /// kind (none: nothing brings it back), a registration code or none → the request that makes the account.
    mutating func createRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let handle: UInt32 = try reader.number()
        var visitor = try visitors[handle]
        let answer = try challengeAnswer(&reader, of: visitor)
        var bundle: RecoveryBundle?
        if try reader.flag() { bundle = try self.bundle(&reader, of: visitor) }
        let code = try reader.string(atMost: Limits.nameBytes)
        if let bundle {
            writer.blob(Wire.CreateAccountRequest(answer, recovery: bundle, registrationCode: code).protobuf())
        } else {
            writer.blob(Wire.CreateAccountRequest(answer, registrationCode: code).protobuf())
        }
        visitor.isKept = bundle != nil
        visitors.replace(handle, visitor)
    }

    /// A visitor, the challenge's answer, the server's origin, time → the request that begins a session.
    func loginRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let visitor = try visitors[try reader.number()]
        let answer = try challengeAnswer(&reader, of: visitor)
        writer.blob(Wire.LoginRequest(answer, knownDevices: 0).protobuf())
    }

    /// A visitor, the answer that begins a session → its token, when it ends, what the server calls the account.
    func sessionAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let visitor = try visitors[try reader.number()]
        let answer = try Wire.SessionResponse(protobuf: try reader.blob(atMost: reader.remaining))
        if let devices = answer.devices {
            var listed: [DeviceStatement] = []
            for device in devices.devices { listed.append(try DeviceStatement(device)) }
            try DeviceStatement.verify(listed, by: visitor.keys.toldKeys)
        }
        writer.string(answer.token)
        writer.number(answer.expires)
        writer.string(answer.account)
    }

    /// A visitor, a recovery key and its kind → the request that keeps a bundle.
    mutating func bundleRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let visitor = try visitors[try reader.number()]
        writer.blob(Wire.RecoveryBundle(try bundle(&reader, of: visitor)).protobuf())
    }

    /// A visitor → nothing: the server has its bundle.
    mutating func bundleAnswer(_ reader: inout CanonicalReader) throws(SealError) {
        let handle: UInt32 = try reader.number()
        var visitor = try visitors[handle]
        visitor.isKept = true
        visitors.replace(handle, visitor)
    }

    /// A visitor, a container → the handle of its identity there, and the request that registers it.
    mutating func identityRequest(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let visitor = try visitors[try reader.number()]
        let container = try reader.string(atMost: Limits.nameBytes)
        let own = try OwnIdentity(visitor.keys.seeds, container: container, using: SodiumHPKE.self)
        let registration = IdentityRegistration(
            own.chain, container: container, loginKey: visitor.keys.loginKey.verificationKey, by: own.keys.signingKey)
        let identity = VisitorIdentity(own: own, registration: registration, heads: visitor.heads)
        writer.number(identities.insert(identity, &last))
        writer.blob(Wire.RegisterIdentityRequest(registration, container: container).protobuf())
    }

    /// An identity, the answer → its user record name.
    func identityAnswer(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(SealError) {
        let identity = try identities[try reader.number()]
        let answer = try Wire.RegisterIdentityResponse(protobuf: try reader.blob(atMost: reader.remaining))
        try identity.registration.check(answer: answer.userRecordName)
        writer.string(answer.userRecordName)
    }

    private func challengeAnswer(
        _ reader: inout CanonicalReader, of visitor: Visitor
    ) throws(SealError) -> ChallengeAnswer {
        let challenge = try Wire.ChallengeResponse(protobuf: try reader.blob(atMost: reader.remaining)).challenge
        return ChallengeAnswer(
            challenge, to: .login, origin: try reader.string(atMost: Limits.nameBytes), by: visitor.keys.loginKey,
            device: visitor.device, time: try reader.number())
    }

    private mutating func bundle(
        _ reader: inout CanonicalReader, of visitor: Visitor
    ) throws(SealError) -> RecoveryBundle {
        let key = try recoveryKeys[try reader.number()]
        guard let kind = RecoveryBundle.Kind(rawValue: try reader.number()) else { throw .malformed }
        return RecoveryBundle(of: visitor.keys.seeds, by: key, kind, random: &random)
    }
}
