public import Foundation
import SealPrimitives

/// One of an account's devices. The account's login key has signed for it: the server cannot make one up.
///
/// A copy of the key file and of what is kept beside it is the same device.
public struct Device: Sendable, Hashable, Identifiable {
    /// 32 hexadecimal digits.
    public let id: String
    /// As it, or another device of the account, has named it.
    public let name: String
    /// When it came to the account, by its own clock.
    public let added: Date
    /// When it last spoke to the server, to the hour. The server's word.
    public let lastSeen: Date
    /// Whether it is this one.
    public let isCurrent: Bool
    /// This device had not seen it before, and its user has not acknowledged it yet.
    public let isNew: Bool

    init(_ listed: ListedDevice, isCurrent: Bool, isNew: Bool) {
        id = listed.id.hex
        name = listed.name
        added = Date(microseconds: listed.added)
        lastSeen = Date(microseconds: listed.lastSeen)
        self.isCurrent = isCurrent
        self.isNew = isNew
    }
}

/// A device of the server's list whose signature holds.
struct ListedDevice: Sendable {
    let id: ID16
    let name: String
    let added: Int64
    let lastSeen: Int64
}
