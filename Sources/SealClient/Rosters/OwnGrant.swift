/// A grant to this account as a member, sealed as it came.
public struct OwnGrant: Sendable, Hashable {
    public let epoch: UInt32
    public let sealed: [UInt8]

    public init(epoch: UInt32, sealed: [UInt8]) { (self.epoch, self.sealed) = (epoch, sealed) }
}
