import Crypto
import Foundation
import SealPrimitives

/// AWS Signature Version 4, in the `Authorization` header: “Authenticating Requests” of Amazon's API reference for S3.
struct S3Signature {
    let credentials: S3Credentials
    let region: String
    let service: String
    /// `20130524T000000Z`.
    let time: String

    init(_ credentials: S3Credentials, region: String, service: String = "s3", time: Date) {
        (self.credentials, self.region, self.service) = (credentials, region, service)
        self.time = time.formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted))
    }

    /// The value of `Authorization`.
    /// - Parameters:
    ///   - path: as it goes over the wire.
    ///   - query: names and values, not encoded.
    ///   - headers: all that are signed, `host` and `x-amz-date` among them, each once.
    ///   - payload: the body's SHA-256 in hexadecimal.
    func authorization(
        method: String, path: String, query: [(name: String, value: String)],
        headers: [(name: String, value: String)], payload: String
    ) -> String {
        let sorted = headers.map { (name: $0.name.lowercased(), value: Self.trimmed($0.value)) }
            .sorted { $0.name < $1.name }
        let signed = sorted.map(\.name).joined(separator: ";")
        let request = [
            method, path, Self.query(query), sorted.map { "\($0.name):\($0.value)\n" }.joined(), signed, payload,
        ].joined(separator: "\n")
        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/\(service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Self.hex(SHA256.hash(data: Data(request.utf8))))"
        let key = [day, region, service, "aws4_request"].reduce(credentials.secret) { key, part in
            SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
        }
        let signature = Self.hex(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
        return "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope),SignedHeaders=\(signed),"
            + "Signature=\(signature)"
    }

    /// In the one order and spelling that is signed, which is the one that is sent.
    static func query(_ query: [(name: String, value: String)]) -> String {
        query.map { (name: encoded($0.name), value: encoded($0.value)) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// Every byte but letters, digits and `-._~` as `%XX`.
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) { bytes.append(byte) } else { bytes += Array(String(format: "%%%02X", byte).utf8) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String { Hex.encode(Array(bytes)) }

    /// Without spaces around it, and with one in the place of several.
    private static func trimmed(_ value: String) -> String {
        value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }
}
