import ArgumentParser
import Foundation
import SealKit

struct AccountList: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the accounts on this machine; * marks the one in use. Needs no network and no passphrase.",
        discussion: """
            Accounts lie side by side, each with a key file and with what it has verified. A command takes --key-file FILE or \
            --account NAME, else $SEALKIT_KEY_FILE, else $SEALKIT_ACCOUNT, else the one in use.

              sealkit account list
            """)

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let folder = GlobalOptions.accounts
        let current = try folder.current()
        for name in folder.names() {
            let mark = name == current ? "*" : " "
            do throws(SealKitError) {
                let file = try KeyFile(contentsOf: folder.keyFile(name))
                let sealing = file.isSealed ? "sealed" : "not sealed by a passphrase"
                let end = file.isUnfinished ? ", and not made yet: go on with sealkit account create" : ""
                try output.result(
                    "\(mark) \(name)\t\(file.server.escaped)\t\(sealing)\(end)",
                    bare: name,
                    json: [
                        "name": .string(name), "isCurrent": .bool(name == current), "server": .string(file.server),
                        "isSealed": .bool(file.isSealed), "keyFile": .string(folder.keyFile(name).path),
                    ])
            } catch {
                // One that cannot be used hides none of the others.
                try output.result(
                    "\(mark) \(name)\tcannot be used: \(error.said.escaped)", bare: name,
                    json: [
                        "name": .string(name), "isCurrent": .bool(name == current), "error": .string(error.said),
                        "keyFile": .string(folder.keyFile(name).path),
                    ])
            }
        }
    }
}
