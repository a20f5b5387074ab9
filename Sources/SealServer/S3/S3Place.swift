import Foundation

/// Where a bucket is, and what in it is ours.
package struct S3Place: Sendable, Equatable {
    /// How a request says which bucket it means.
    package enum Addressing: String, Sendable, CaseIterable {
        /// `https://endpoint/bucket/key`.
        case path
        /// `https://bucket.endpoint/key`.
        case host
    }

    /// Why there is no such place. Nothing of the URL is in it: somebody may have put a secret there.
    package enum Malformed: Error, Equatable {
        /// No `s3://bucket/prefix`, with a bucket's name as S3 has them.
        case bucket
        /// No origin without a user.
        case endpoint
        case region
        case addressing
        /// One that there is not, twice the same, or one that is not written as URLs have it.
        case parameter
    }

    package let bucket: String
    /// Before every key: empty, or with a slash at its end.
    package let prefix: String
    package let region: String
    /// `https`, or `http` on this machine.
    package let scheme: String
    /// As a request names it: without the port that the scheme has anyway.
    package let host: String
    /// Of the endpoint, without a port and without the bucket.
    package let endpointHost: String
    /// PEM file of authorities to trust besides the system's; nil for those alone.
    package let authorityFile: String?
    /// Before the bucket's keys in a path: `/` or `/bucket/`.
    let root: String

    /// What stores that have no regions take.
    private static let defaultRegion = "us-east-1"

    /// - Parameter url: `s3://bucket/prefix?endpoint=https://host:port&region=name&addressing=path|host&ca=file`, of
    ///   which the bucket alone has to be there. Without an endpoint it is Amazon's, with the bucket in the host unless
    ///   it has dots; with one the bucket is in the path.
    package init(_ url: String) throws(Malformed) {
        let halves = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let place = halves.first, place.hasPrefix("s3://") else { throw .bucket }
        let parts = place.dropFirst(5).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let bucket = String(parts.first ?? "")
        guard Self.isBucket(bucket) else { throw .bucket }
        var prefix = parts.count > 1 ? String(parts[1]) : ""
        while prefix.hasSuffix("/") { prefix.removeLast() }
        guard Self.isPrefix(prefix) else { throw .bucket }
        let given = try Self.parameters(halves.count > 1 ? halves[1] : "")
        let region = given["region"] ?? Self.defaultRegion
        guard (1...64).contains(region.utf8.count), region.utf8.allSatisfy(Self.isNameByte) else { throw .region }
        let origin = try Self.origin(given["endpoint"] ?? "https://s3.\(region).amazonaws.com")
        // No certificate for all buckets of a host has those with dots.
        let fitsHost = origin.scheme != "https" || !bucket.contains(".")
        var addressing = given["endpoint"] == nil && fitsHost ? Addressing.host : .path
        if let text = given["addressing"] {
            guard let chosen = Addressing(rawValue: text), chosen == .path || fitsHost else { throw .addressing }
            addressing = chosen
        }
        self.bucket = bucket
        self.prefix = prefix.isEmpty ? "" : prefix + "/"
        self.region = region
        scheme = origin.scheme
        endpointHost = origin.host
        authorityFile = given["ca"]
        switch addressing {
        case .path: (host, root) = (origin.authority, "/\(bucket)/")
        case .host: (host, root) = ("\(bucket).\(origin.authority)", "/")
        }
    }

    private static func parameters(_ query: Substring) throws(Malformed) -> [String: String] {
        var given: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard parts.count == 2, ["endpoint", "region", "addressing", "ca"].contains(name), given[name] == nil,
                let value = String(parts[1]).removingPercentEncoding, !value.isEmpty
            else { throw .parameter }
            given[name] = value
        }
        return given
    }

    /// What a person calls it.
    package var name: String { "s3://\(bucket)" + (prefix.isEmpty ? "" : "/" + prefix.dropLast()) }

    /// Whether what goes there can be read on the way.
    package var isEncrypted: Bool { scheme == "https" }

    private static func origin(
        _ text: String
    ) throws(Malformed) -> (scheme: String, host: String, authority: String) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.percentEncodedHost?.lowercased(), !host.isEmpty,
            !host.contains("%"), ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil,
            parts.user == nil, parts.password == nil
        else { throw .endpoint }
        let usual = scheme == "https" ? 443 : 80
        guard let port = parts.port, port != usual else { return (scheme, host, host) }
        return (scheme, host, "\(host):\(port)")
    }

    /// As Amazon names them: 3 to 63 small letters, digits, dots and dashes.
    private static func isBucket(_ text: String) -> Bool {
        (3...63).contains(text.utf8.count)
            && text.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: ".") }
            && text.first != "." && text.last != "." && text.first != "-" && text.last != "-"
    }

    /// Folders' names that no URL writes otherwise, and none that leads elsewhere.
    private static func isPrefix(_ text: String) -> Bool {
        guard !text.isEmpty else { return true }
        return text.utf8.count <= 512
            && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
                !part.isEmpty && part != "." && part != ".."
                    && part.utf8.allSatisfy { S3Signature.isUnreserved($0) && $0 != UInt8(ascii: "~") }
            }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "-")
    }
}
