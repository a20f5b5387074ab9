import Foundation
import SealEnvelope
import SealKit

/// Makes an account on a server together with its key file, and shows its recovery key.
enum NewAccount {
    /// - Parameters:
    ///   - ask: for a passphrase to seal the key file with.
    ///   - registrationCode: from the server's operator; nil where it asks for none.
    static func make(
        _ global: GlobalOptions, server: String, passphrase ask: Bool, registrationCode: String?,
        device: DeviceNameOption, _ output: Output
    ) async throws -> Client {
        let target = NewKeyFile(global, goesOn: true)
        try target.check()
        let passphrase = try global.newPassphrase(ask: ask)
        return try await target.make { trust in
            try await make(target, global, server: server, passphrase, registrationCode, device, trust, output)
        }
    }

    private static func make(
        _ target: NewKeyFile, _ global: GlobalOptions, server: String, _ passphrase: String?,
        _ registrationCode: String?, _ device: DeviceNameOption,
        _ trust: TrustStore, _ output: Output
    ) async throws -> Client {
        let transport = try global.transport(server: server)
        let (account, recoveryKey) = try await target.create(passphrase: passphrase) { store throws(SealKitError) in
            try await Account.create(
                transport: transport, deviceName: device.name, trust: trust, registrationCode: registrationCode,
                in: store)
        }
        let container = try global.makeContainer(account, trust: trust)
        let name = try container.userRecordID().recordName
        let key = recoveryKey.text()
        do throws(SealKitError) {
            try output.only(
                """
                Your recovery key – write it down, it is shown this once:

                    \(key)

                """, bare: key,
                json: [
                    "recoveryKey": .string(key), "userRecordName": .string(name),
                    "keyFile": .string(global.keyFileURL.path),
                ])
        } catch {
            // The file is all that there is of an account that has been made.
            await Interruption.settle { try? await account.logOut() }
            throw error.adding(
                remedy:
                    "the account was made, and its key file written; for a recovery key that you can see: sealkit account recovery-key"
            )
        }
        let isSealed = (try? KeyFile(contentsOf: global.keyFileURL))?.isSealed == true
        let sealing = isSealed ? "sealed" : "not sealed by a passphrase"
        output.note("key file: \(global.keyFileURL.path) (\(sealing))\nuser name: \(name)")
        await container.makeKnown(output)
        return Client(account: account, container: container, trust: trust)
    }
}

extension Client {
    fileprivate init(account: Account, container: Container, trust: TrustStore) {
        (self.account, self.container, self.trust) = (account, container, trust)
    }
}
