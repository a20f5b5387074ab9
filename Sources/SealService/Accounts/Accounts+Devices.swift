import SealPrimitives
package import SealStorage
package import SealWire

extension Accounts {
    /// Takes another statement of one of an account's devices.
    /// - Returns: its list of devices as it is now.
    /// - Throws: `notAuthenticated` where the account's login key has not signed it; `unknownItem`.
    package static func rename(
        _ device: DeviceStatement, of account: Int64, now: Int64, in connection: any SQLConnection
    ) throws -> Sealkit_V1_DevicesResponse {
        // The newest generation's: a statement by an older one would be replaced at the device's next login.
        guard let key = try loginKeys(of: account, in: connection).first(where: device.isSigned) else {
            throw DeviceStatement.notSigned
        }
        let revision = try Devices.rename(device, account: account, loginKey: key, now: now, in: connection)
        return try Devices.list(account: account, revision: revision, in: connection)
    }
}
