import HTTPTypes
import Hummingbird
import SealPrimitives
import SealService
import SealStatements
import SealWire

/// What a request of a server-to-server key says about itself in its headers.
struct SignedRequest: Sendable {
    static let names = (
        keyID: header("X-SealKit-Key-ID"), date: header("X-SealKit-Date"), nonce: header("X-SealKit-Nonce"),
        signature: header("X-SealKit-Signature")
    )
    private static let all = [names.keyID, names.date, names.nonce, names.signature]

    let user: UserID
    /// As it came: it is signed as text.
    let date: String
    /// Microseconds since 1970.
    let time: Int64
    let nonce: ID16
    let signature: [UInt8]

    /// Nil for a request without any of the headers.
    /// - Throws: `invalidArguments` for one that has some of them, or not in their forms, or a session token as well.
    init?(_ request: Request) throws(ServerError) {
        let names = Self.all
        guard names.contains(where: request.headers.contains) else { return nil }
        let values = names.map { request.headers[values: $0] }
        guard values.allSatisfy({ $0.count == 1 }) else {
            throw Self.malformed("A signed request has each of \(names.map(\.rawName).joined(separator: ", ")) once.")
        }
        guard request.headers[.authorization] == nil else {
            throw Self.malformed("A request is signed or has a session, not both.")
        }
        guard let user = try? UserID(recordName: values[0][0]) else {
            throw Self.malformed("\(names[0].rawName) is a server-to-server key's user record name.")
        }
        guard let time = ServerRequests.time(of: values[1][0]) else {
            throw Self.malformed("\(names[1].rawName) is a time in UTC like 2026-11-21T13:40:00Z.")
        }
        guard let nonce = try? ID16(Hex.decode(values[2][0])) else {
            throw Self.malformed("\(names[2].rawName) is 16 random bytes as 32 lower-case hexadecimal digits.")
        }
        guard let signature = try? Hex.decode(values[3][0]), signature.count == SigningKey.signatureBytes else {
            throw Self.malformed("\(names[3].rawName) is 64 bytes as 128 lower-case hexadecimal digits.")
        }
        self.user = user
        date = values[1][0]
        self.time = time
        self.nonce = nonce
        self.signature = signature
    }

    /// - Throws: `notAuthenticated`, with the server's time.
    func checkWindow(now: Int64) throws(ServerError) {
        // Dates end in the year 9999: nothing here can overflow.
        guard time >= now - ServerRequests.window, time <= now + ServerRequests.window else {
            throw ServerError(
                .notAuthenticated,
                "The request's date is more than ten minutes away from the server's time, \(ServerRequests.date(at: now)).",
                remedy: "Set the clock, and sign each request when it is sent.")
        }
    }

    /// - Throws: `notAuthenticated`.
    func verify(_ request: Request, body: [UInt8], origin: String, key: VerificationKey) throws(ServerError) {
        let signed = ServerRequests.signedBytes(
            origin: origin, user: user, method: request.method.rawValue, path: request.uri.string, date: date,
            nonce: nonce,
            body: body)
        do {
            try key.verify(signature, over: signed)
        } catch {
            throw ServerError(
                .notAuthenticated,
                "The signature does not hold for this server's origin, \(origin), and this request's method, path, date, nonce and body.",
                remedy: "Sign the request as it is sent, with the key that the header names.")
        }
    }

    private static func malformed(_ reason: String) -> ServerError {
        ServerError(
            .invalidArguments, reason, remedy: "Sign requests as PROTOCOL.md says under \"Server-to-server key\".")
    }

    private static func header(_ name: String) -> HTTPField.Name {
        // A literal of letters and hyphens is always a name.
        HTTPField.Name(name) ?? .authorization
    }
}
