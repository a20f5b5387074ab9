import Foundation
import SealPrimitives
import SealService

/// What lies in the secrets folder, made at the first start.
struct ServerSecrets: Sendable {
    let addresses: AddressHasher
    let tokenKeys: TokenKeys
    let management: ManagementTokens
    let operatorToken: OperatorToken
    let webhookKeys: TokenKeys
    let registrationKey: SecretBytes

    init(folder: String) throws {
        Sodium.start()
        for path in ["", "/token-keys", "/webhook-keys", "/" + ConsoleKeys.folderName].map({ folder + $0 }) {
            try SecretFile.requireOwn(folder: path)
        }
        addresses = try AddressHasher(secretsFolder: folder, randomBytes: systemRandomBytes)
        tokenKeys = try TokenKeys(secretsFolder: folder, randomBytes: systemRandomBytes)
        management = try ManagementTokens(secretsFolder: folder, randomBytes: systemRandomBytes)
        operatorToken = try OperatorToken(secretsFolder: folder, randomBytes: systemRandomBytes)
        registrationKey = try Registration.loadKey(secretsFolder: folder, randomBytes: systemRandomBytes)
        webhookKeys = try TokenKeys(secretsFolder: folder, name: "webhook-keys", randomBytes: systemRandomBytes)
    }
}
