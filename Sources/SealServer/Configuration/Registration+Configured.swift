import SealService

extension Registration.Mode {
    init(_ configured: ServerConfiguration.Registration) {
        switch configured {
        case .open: self = .open
        case .invite: self = .invite
        case .closed: self = .closed
        }
    }
}
