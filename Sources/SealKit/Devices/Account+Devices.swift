import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension Account {
    /// The account's devices, in the order in which they came.
    ///
    /// Looking at them makes none known: one that is new stays so until `acknowledge(_:)`.
    /// - Throws: `integrityFailure` when the server lists one that the account's keys did not sign for;
    ///   `notAuthenticated` when this device was removed from the account.
    public func devices() async throws(SealKitError) -> [Device] {
        try await look(at: try await call(Endpoints.devices.list, Sealkit_V1_ListDevicesRequest()))
    }

    /// Gives a device another name, on all devices.
    /// - Parameter name: what people will see in lists of devices.
    /// - Parameter id: `Device.id`.
    /// - Throws: `unknownItem`; `invalidArguments` for a name of more than 255 bytes or with control characters.
    @discardableResult
    public func renameDevice(_ id: Device.ID, to name: String) async throws(SealKitError) -> [Device] {
        let id = try Account.deviceID(id)
        let list: Sealkit_V1_DevicesResponse = try await call(Endpoints.devices.list, Sealkit_V1_ListDevicesRequest())
        guard let device = try verified(list).first(where: { $0.id == id }) else { throw Account.noDevice }
        let key = try verifying("the account's login key") { () throws(SealError) in try seed.loginKey() }
        let renamed = DeviceStatement(id: id, name: name, added: device.added, by: key)
        let request = Sealkit_V1_NameDeviceRequest.with {
            $0.id = Data(id.bytes)
            $0.name = renamed.name
            $0.added = renamed.added
            $0.signature = Data(renamed.signature)
        }
        return try await look(at: try await call(Endpoints.devices.name, request))
    }

    /// Takes a device off the account: its sessions, event streams and uploads end at once, and the server refuses its
    /// logins from then on.
    ///
    /// What the device has read it keeps, and its keys with it: whoever can read them out of a lost device can come
    /// back as another one, which shows as a new device.
    /// - Parameter id: `Device.id`; also this device's own.
    /// - Throws: `unknownItem`.
    @discardableResult
    public func revokeDevice(_ id: Device.ID) async throws(SealKitError) -> [Device] {
        let id = try Account.deviceID(id)
        let request = Sealkit_V1_RevokeDeviceRequest.with { $0.id = Data(id.bytes) }
        let list: Sealkit_V1_DevicesResponse = try await call(Endpoints.devices.revoke, request)
        // Whoever takes a device off has seen it.
        try await deviceKeeper.trust?.acknowledge([id], account: deviceKeeper.account)
        return try await look(at: list)
    }

    /// Devices that this one had not seen before, until they are acknowledged. The server is asked only when one of its
    /// answers has named another list than this device knows: each answer names it.
    ///
    /// The first list that a device sees holds nothing new: there is nothing to compare it with.
    /// - Throws: as `devices()`.
    public func newDevices() async throws(SealKitError) -> [Device] {
        guard let trust = deviceKeeper.trust else { return [] }
        try await deviceKeeper.finishLooking()
        if !deviceKeeper.isSettled { try await settleDevices() }
        return try await trust.newDevices(account: deviceKeeper.account).map {
            Device($0, isCurrent: false, isNew: true)
        }
    }

    /// The user has looked at new devices, and knows them. For one that nobody knows there is `revokeDevice(_:)`.
    /// - Throws: `invalidArguments` for what is no device's id; what the trust store throws.
    public func acknowledge(_ devices: [Device]) async throws(SealKitError) {
        guard let trust = deviceKeeper.trust else { return }
        var ids: [ID16] = []
        for device in devices { ids.append(try Account.deviceID(device.id)) }
        try await trust.acknowledge(ids, account: deviceKeeper.account)
    }

    // MARK: Looking

    /// With each answer: looks at the list, beside the call, when the server names another than this device knows.
    func noteDevices(_ revision: UInt64?) {
        guard let revision else { return }
        deviceKeeper.look(at: revision) { [weak self] () throws(SealKitError) in try await self?.settleDevices() }
    }

    private func settleDevices() async throws(SealKitError) {
        _ = try await deviceKeeper.identity()
        if let list = deviceKeeper.pendingList {
            try await lookAtPending(list)
            if deviceKeeper.isNewest(list.revision) { return }
        }
        _ = try await devices()
    }

    private func lookAtPending(_ list: Sealkit_V1_DevicesResponse) async throws(SealKitError) {
        do { try await look(at: list) } catch {
            deviceKeeper.dropPendingList()
            throw error
        }
    }

    /// Verifies a list, remembers it, and tells of what is new.
    @discardableResult
    private func look(at list: Sealkit_V1_DevicesResponse) async throws(SealKitError) -> [Device] {
        // What came with the login is older: who came since then is new by it.
        if let earlier = deviceKeeper.pendingList, earlier.revision < list.revision { try await lookAtPending(earlier) }
        let listed = try verified(list)
        let own = try await deviceKeeper.identity()
        guard let trust = deviceKeeper.trust else {
            return listed.map { Device($0, isCurrent: $0.id == own.id, isNew: false) }
        }
        let found = try await trust.note(listed, own: own.id, revision: list.revision, account: deviceKeeper.account)
        deviceKeeper.settle(at: list.revision, name: listed.first { $0.id == own.id }?.name)
        deviceKeeper.tell(
            listed.filter { found.fresh.contains($0.id) }.map { Device($0, isCurrent: false, isNew: true) })
        return listed.map { Device($0, isCurrent: $0.id == own.id, isNew: found.new.contains($0.id)) }
    }

    /// Nothing of a list is used unless every device in it has its signature, by the newest keys or by those before.
    private func verified(_ list: Sealkit_V1_DevicesResponse) throws(SealKitError) -> [ListedDevice] {
        do throws(SealError) {
            var stated: [DeviceStatement] = []
            for wire in list.devices {
                stated.append(
                    DeviceStatement(
                        id: try ID16(wire.id), name: wire.name, added: wire.added, signature: [UInt8](wire.signature)))
            }
            try DeviceStatement.verify(stated, by: keys.toldKeys)
            return zip(stated, list.devices).map { stated, wire in
                ListedDevice(id: stated.id, name: stated.name, added: stated.added, lastSeen: wire.lastSeen)
            }
        } catch {
            throw SealKitError(
                .integrityFailure,
                "the server lists a device of this account that the account's keys did not sign for",
                remedy: "distrust the server; who has the account's keys it cannot say")
        }
    }

    private static func deviceID(_ text: String) throws(SealKitError) -> ID16 {
        guard let bytes = try? Hex.decode(text), let id = try? ID16(bytes) else {
            throw SealKitError(
                .invalidArguments, "a device's id has 32 hexadecimal digits", remedy: "take it from the list of devices"
            )
        }
        return id
    }

    private static let noDevice = SealKitError(
        .unknownItem, "the account has no such device", remedy: "list its devices again")
}
