/// The hosts that only this machine can reach.
package enum Loopback {
    package static func contains(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }

    /// The same of a URL's host, which may be an IPv6 address in brackets.
    package static func contains(urlHost host: String) -> Bool {
        contains(host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host)
    }
}
