import ArgumentParser
import SealKit

struct ServerKeyList: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List this account's keys for the container and environment.")

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let keys = try await client.container.serverKeys()
        for key in keys {
            let user = key.userRecordID.recordName
            try output.result(
                "\(user)  \(key.name.escaped)  \(Timestamp.text(key.created))", bare: user.escaped,
                json: [
                    "serverKey": .object([
                        "user": .string(user), "name": .string(key.name),
                        "created": .string(Timestamp.text(key.created)),
                    ])
                ])
        }
        output.note(keys.count.counted("key"))
    }
}
