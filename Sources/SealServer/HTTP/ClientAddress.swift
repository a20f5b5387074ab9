import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Whom a rate limit counts: the client's network address, an IPv6 client by its /64, which is one household.
enum ClientAddress {
    /// - Parameter isBehindProxy: the proxy's own note of the client counts then: the last one, since clients can send
    ///   earlier ones themselves.
    static func subject(of request: Request, _ context: SealRequestContext, isBehindProxy: Bool) -> [UInt8] {
        if isBehindProxy, let name = HTTPField.Name("X-Forwarded-For"),
            let last = request.headers[values: name].last?.split(separator: ",").last,
            let address = try? SocketAddress(ipAddress: String(last.filter { $0 != " " }), port: 0)
        {
            return bytes(of: address)
        }
        return context.remoteAddress.map(bytes) ?? []
    }

    static func bytes(of address: SocketAddress) -> [UInt8] {
        switch address {
        // Behind family and port, as `sockaddr_in` has it.
        case .v4(let address): return withUnsafeBytes(of: address.address) { unsafe Array($0[4..<8]) }
        case .v6(let address):
            // Behind family, port and flow, as `sockaddr_in6` has it: without the interface that a link-local address
            // may name.
            let all = withUnsafeBytes(of: address.address) { unsafe Array($0[8..<24]) }
            // ::ffff:a.b.c.d, as a listener for both families shows IPv4 clients.
            if all.prefix(10).allSatisfy({ $0 == 0 }), all[10] == 0xff, all[11] == 0xff { return Array(all.suffix(4)) }
            return Array(all.prefix(8))
        case .unixDomainSocket: return []
        }
    }
}
