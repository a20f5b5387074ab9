import Foundation
import NIOCore

/// The system does not let the server listen where it was told to.
public struct ListenFailure: Error, Equatable, CustomStringConvertible {
    public enum Cause: Sendable, Equatable {
        case inUse
        case notPermitted
        case notThisMachines
    }

    public let address: String
    public let cause: Cause

    /// Nil for what has other causes.
    init?(_ error: any Error, at address: ListenAddress) {
        guard let error = error as? IOError else { return nil }
        switch error.errnoCode {
        case EADDRINUSE: cause = .inUse
        case EACCES: cause = .notPermitted
        case EADDRNOTAVAIL: cause = .notThisMachines
        default: return nil
        }
        self.address = address.description
    }

    public var description: String {
        switch cause {
        case .inUse: "Another program listens on \(address) already. Stop it, or give this server another --listen address."
        case .notPermitted: "Listening on \(address) is not permitted. Ports below 1024 are the administrator's: give --listen another."
        case .notThisMachines: "\(address) is no address of this machine. Give one that is with --listen."
        }
    }
}
