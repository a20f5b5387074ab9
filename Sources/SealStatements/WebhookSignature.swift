public import SealPrimitives

/// How a server vouches for what it sends to a webhook: the header `SealKit-Signature: keyid=…,time=…,signature=…`.
public struct WebhookSignature: Sendable, Hashable {
    public static let header = "SealKit-Signature"

    /// PASERK `k4.pid`: which of the server's keys.
    public let keyID: String
    /// Seconds since 1970, when this attempt was made.
    public let time: Int64
    public let signature: [UInt8]

    public init(keyID: String, time: Int64, signature: [UInt8]) {
        self.keyID = keyID
        self.time = time
        self.signature = signature
    }

    /// - Throws: `malformed`.
    public init(header: String) throws(SealError) {
        guard header.utf8.count <= 512 else { throw .malformed }
        let parts = header.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].hasPrefix("keyid="), parts[1].hasPrefix("time="),
            parts[2].hasPrefix("signature="),
            let time = Int64(parts[1].dropFirst(5)), let signature = try? Base64URL.decode(parts[2].dropFirst(10))
        else { throw .malformed }
        self.init(keyID: String(parts[0].dropFirst(6)), time: time, signature: signature)
    }

    public var headerValue: String { "keyid=\(keyID),time=\(time),signature=\(Base64URL.encode(signature))" }

    /// What is signed: the key's name, the time, the URL that it was sent to, and the body as it was sent.
    public static func signedBytes(keyID: String, time: Int64, url: String, body: [UInt8]) -> PAE {
        var pae = PAE(.webhook, pieces: 4, capacity: body.count + 512)
        pae.add(keyID)
        pae.add(time)
        pae.add(url)
        pae.add(body)
        return pae
    }
}
