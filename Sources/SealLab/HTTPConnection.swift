public import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One HTTP/1.1 connection on a blocking socket: so little work that what it measures is the server, and so much
/// control that it can misbehave.
public final class HTTPConnection {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    private var filled = 0

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// - Parameters:
    ///   - port: of a server on loopback.
    ///   - source: the address that the server sees, of 127.0.0.0/8; nil for the one that it listens at.
    ///   - kept: bytes that the system keeps at most of what has come and was not received; nil for its own choice.
    public init(port: Int, from source: String? = nil, keeping kept: Int32? = nil) throws(Failure) {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw Failure(description: "no socket") }
        if var kept { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &kept, socklen_t(MemoryLayout<Int32>.size)) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        if let source {
            var own = sockaddr_in()
            own.sin_family = sa_family_t(AF_INET)
            own.sin_addr.s_addr = inet_addr(source)
            let isBound = withUnsafePointer(to: &own) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
            }
            guard isBound else { throw Failure(description: "\(source) is no address of this machine") }
        }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
        }
        // What is thrown from here runs `deinit`, which closes: a second time, it might be another thread's new
        // descriptor.
        guard connected else { throw Failure(description: "the server does not accept connections") }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    /// A whole request, ready to be sent.
    public static func request(_ method: String = "POST", path: String, body: Data, token: String) -> [UInt8] {
        let type = "application/x-protobuf"
        var bytes = [UInt8]()
        bytes += "\(method) \(path) HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: \(type)\r\naccept: \(type)\r\n".utf8
        bytes += "authorization: Bearer \(token)\r\ncontent-length: \(body.count)\r\n\r\n".utf8
        bytes += body
        return bytes
    }

    public func send(_ bytes: some ContiguousBytes) throws(Failure) {
        let isSent = bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Self.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return false }
                done += count
            }
            return true
        }
        guard isSent else { throw Failure(description: "the server closed the connection") }
    }

    /// Without the signal that a closed connection would raise.
    private static func write(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.send(descriptor, start, count, Int32(MSG_NOSIGNAL))
        #else
            Darwin.send(descriptor, start, count, 0)
        #endif
    }

    /// The next answer: its status and body. It has to come with a content length.
    public func receive() throws(Failure) -> (status: Int, body: Data) {
        filled = 0
        var head = 0
        while head == 0 {
            try fill()
            head = Self.headEnd(buffer, filled)
        }
        guard let length = Self.contentLength(buffer, head), filled >= 12 else {
            throw Failure(description: "the answer has no length")
        }
        while filled < head + length { try fill() }
        return (Self.status(buffer), Data(buffer[head..<head + length]))
    }

    /// Some bytes of an answer, and no more.
    @discardableResult
    public func receiveSome() throws(Failure) -> Data {
        filled = 0
        try fill()
        return Data(buffer[..<filled])
    }

    /// Returns once an answer's status is there, which stays unread like the rest of it.
    public func awaitStatus() throws(Failure) -> Int {
        var start = [UInt8](repeating: 0, count: 12)
        while true {
            let count = recv(descriptor, &start, start.count, Int32(MSG_PEEK))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(description: "the server closed the connection") }
            if count == start.count { return Self.status(start) }
            // Some of it is there: looking again returns at once.
            usleep(1_000)
        }
    }

    /// - Parameter start: of an answer, 12 bytes at least.
    private static func status(_ start: [UInt8]) -> Int { start[9..<12].reduce(0) { $0 * 10 + Int($1) - 48 } }

    /// Everything that comes until the connection is closed.
    /// - Returns: how many bytes that were.
    public func receiveToEnd() -> Int {
        var count = 0
        while true {
            filled = 0
            do { try fill() } catch { return count }
            count += filled
        }
    }

    private func fill() throws(Failure) {
        if filled == buffer.count { buffer.append(contentsOf: [UInt8](repeating: 0, count: buffer.count)) }
        while true {
            let room = buffer.count - filled
            let start = filled
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress.map { $0 + start }, room, 0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(description: "the server closed the connection") }
            filled += count
            return
        }
    }

    /// Where the body begins; 0 as long as the head is not whole.
    private static func headEnd(_ bytes: [UInt8], _ count: Int) -> Int {
        guard count >= 4 else { return 0 }
        for index in 3..<count
        where bytes[index] == 10 && bytes[index - 1] == 13 && bytes[index - 2] == 10 && bytes[index - 3] == 13 {
            return index + 1
        }
        return 0
    }

    private static func contentLength(_ bytes: [UInt8], _ head: Int) -> Int? {
        let name = Array("\ncontent-length:".utf8)
        guard head > name.count else { return nil }
        for start in 0..<(head - name.count) where bytes[start] == 10 {
            guard (0..<name.count).allSatisfy({ bytes[start + $0] | 0x20 == name[$0] | 0x20 }) else { continue }
            var length = 0
            for byte in bytes[(start + name.count)..<head] where byte != 32 {
                guard (48...57).contains(byte) else { return length }
                length = length * 10 + Int(byte) - 48
            }
        }
        return nil
    }

    /// Address and port of this end, as `/proc/net/tcp` has them; empty where the system does not tell.
    public var localEnd: String {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
        }
        return isKnown
            ? String(format: "%08X:%04X", address.sin_addr.s_addr, Int(UInt16(bigEndian: address.sin_port))) : ""
    }

    // MARK: Bad manners

    /// Ends the connection at once: the server gets a reset, not an end.
    public func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Says that nothing more is sent, and listens on.
    public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }
}
