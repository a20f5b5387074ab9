import Foundation
import NIOCore
import NIOPosix
import SealService
import ServiceLifecycle

/// The system does not let the server listen where it was told to.
public struct ListenFailure: Error, Equatable, CustomStringConvertible {
    public enum Cause: Sendable, Equatable {
        case inUse
        case notPermitted
        case notThisMachines
    }

    public let address: String
    public let cause: Cause
    /// The setting that gave the address: `listen`, `metrics`, `operator` or `console`.
    public let setting: String

    /// Nil for what has other causes.
    init?(_ error: any Error, at address: ListenAddress, setting: String = "listen") {
        self.setting = setting
        switch error {
        case let error as IOError where error.errnoCode == EADDRINUSE: cause = .inUse
        case let error as IOError where error.errnoCode == EACCES: cause = .notPermitted
        case let error as IOError where error.errnoCode == EADDRNOTAVAIL: cause = .notThisMachines
        // A name that nobody knows.
        case is SocketAddressError, is SocketAddressError.UnknownHost: cause = .notThisMachines
        default: return nil
        }
        self.address = address.description
    }

    public var description: String {
        switch cause {
        case .inUse:
            "Another program listens on \(address) already. Stop it, or give this server another --\(setting) address."
        case .notPermitted:
            "Listening on \(address) is not permitted. Ports below 1024 are the administrator's: give --\(setting) another."
        case .notThisMachines: "\(address) is no address of this machine. Give one that is with --\(setting)."
        }
    }
}

extension ListenAddress {
    /// Listens here and stops at once: so a start that cannot work fails before anything is made on the disk. Somebody
    /// may still take the address before the server does.
    ///
    /// Throws `ListenFailure`; the system's errors.
    func tryOut(setting: String = "listen") async throws {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try await channel.close()
        } catch {
            throw ListenFailure(error, at: self, setting: setting) ?? error
        }
    }
}

/// Listens, and names the address and its setting where it may not.
struct ListeningService<Listener: Service>: Service {
    let listener: Listener
    let address: ListenAddress
    let setting: String

    /// Throws `ListenFailure`; the listener's errors.
    func run() async throws {
        do { try await listener.run() } catch { throw ListenFailure(error, at: address, setting: setting) ?? error }
    }
}
