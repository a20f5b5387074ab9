import NIOCore
import NIOSSL

/// Whom a certificate is for, as clients compare it: by its alternative names alone (RFC 9525, section 6); its common
/// name counts for nothing.
struct CertificateNames: CustomStringConvertible {
    private var hosts: [String] = []
    /// As `SocketAddress` writes them.
    private var addresses: [String] = []

    init(_ certificate: NIOSSLCertificate) {
        for name in certificate._subjectAlternativeNames() {
            switch name.nameType {
            case .dnsName: hosts.append(String(decoding: name.contents, as: UTF8.self).lowercased())
            case .ipAddress:
                let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: name.contents), port: 0)
                if let text = address?.ipAddress { addresses.append(text) }
            default: continue
            }
        }
    }

    /// - Parameter host: a name or an address, without brackets.
    func covers(_ host: String) -> Bool {
        if let address = try? SocketAddress(ipAddress: host, port: 0).ipAddress { return addresses.contains(address) }
        // The dot at the end of a whole name is in no certificate.
        let host = (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
        // A wildcard stands for one label, the first.
        let parent = host.firstIndex(of: ".").map { "*" + host[$0...] }
        return hosts.contains { $0 == host || $0 == parent }
    }

    var description: String {
        let names = hosts + addresses
        return names.isEmpty ? "nobody: it has no alternative names" : names.joined(separator: ", ")
    }
}
