public import Foundation

/// Whether calls can be made: CloudKit's `CKAccountStatus`.
public enum AccountStatus: Int, Sendable {
    /// It cannot be told now: the server cannot be reached, or the app has not said yet who is signed in.
    case couldNotDetermine = 0
    /// Somebody is signed in, and the server knows the account.
    case available = 1
    /// No account may be used on this device, as the app has said for its parental controls or management.
    case restricted = 2
    /// Nobody is signed in, or the server does not know the account.
    case noAccount = 3
    /// There is an account, and it has to prove itself again: its keys are locked on this device, or the server does
    /// not accept its login now, or another device has given the account new keys, or the server's operator has
    /// suspended it. Keep caches, and try again when the status changes.
    case temporarilyUnavailable = 4

    /// What a failed call says about the account; nil when it says nothing.
    init?(_ code: SealKitError.Code) {
        switch code {
        case .notAuthenticated: self = .noAccount
        case .accountTemporarilyUnavailable, .keysReplaced, .accountSuspended: self = .temporarilyUnavailable
        default: return nil
        }
    }
}

/// What happened to a device's account: CloudKit's `CKAccountChanged`, and what its sync engine makes of it.
public enum AccountChange: Sendable, Hashable {
    /// Somebody is signed in where nobody was.
    case signIn
    /// Nobody is signed in any more.
    case signOut
    /// Somebody else is signed in than before.
    case switchAccounts
    /// The same account, in another state.
    case statusChanged(AccountStatus)
    /// A device has come to the account that this one has not seen before. Show it to the user: was it they who added
    /// it? It is kept as new (`Account.newDevices()`) until `Account.acknowledge(_:)`.
    case newDevice(Device)
}

extension NSNotification.Name {
    /// Posted without object when the account of any `AccountProvider` of the process changes: check `accountStatus()`
    /// again.
    public static let accountChanged = NSNotification.Name("SealKitAccountChanged")
}
