import ArgumentParser
import SealKit

struct AccountAddress: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "address",
        abstract: "Addresses that were proven to be this account's.",
        discussion: """
            Invitations to a linked address need no code. Others find this account by it only if it is discoverable: until then \
            they learn no more than of an address that nobody has. The server keeps a keyed hash, not the address.
            """,
        subcommands: [
            AccountAddressAdd.self, AccountAddressList.self, AccountAddressDiscoverable.self, AccountAddressRemove.self,
        ])
}

struct AccountAddressAdd: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Link an e-mail address or phone number to this account: the server sends a code to it.",
        discussion: """
            An address that is linked to another account moves to this one.

              sealkit account address add bob@example.org --discoverable
              sealkit account address add +4930123456 --language de
            """)

    @Argument(help: "The e-mail address, or the phone number as + and its digits.")
    var address: String

    @Flag(help: "Let others find this account by it from now on.")
    var discoverable = false

    @OptionGroup var code: CodeOptions
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        try await code.link(address, discoverable: discoverable, client, output)
        try output.result(
            "linked \(address.escaped)", json: ["linked": .string(address), "discoverable": .bool(discoverable)])
    }
}

struct AccountAddressList: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the linked addresses: by id, since the server does not know them.",
        discussion: "  sealkit account address list")

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        for address in try await client.account.linkedAddresses() {
            try output.result(address.line, bare: address.idText, json: ["address": address.json])
        }
    }
}

struct AccountAddressDiscoverable: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "discoverable",
        abstract: "Let others find this account by a linked address, or no longer.",
        discussion: "  sealkit account address discoverable bob@example.org on")

    @OptionGroup var handle: AddressArgument

    @Argument(help: "on or off.")
    var setting: SwitchArgument

    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let isOn = setting == .on
        let changed =
            if let id = handle.id {
                try await client.account.setDiscoverable(isOn, id: id)
            } else {
                try await client.account.setDiscoverable(isOn, address: handle.address)
            }
        try output.result(changed.line, bare: changed.idText, json: ["address": changed.json])
    }
}

struct AccountAddressRemove: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Take an address off this account.",
        discussion: """
            Shares that were accepted by it stay. Invitations to it need a code again, from whoever has it then.

              sealkit account address remove bob@example.org
            """)

    @OptionGroup var handle: AddressArgument
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let wasLinked =
            if let id = handle.id {
                try await client.account.unlinkAddress(id: id)
            } else {
                try await client.account.unlinkAddress(handle.address)
            }
        guard wasLinked else {
            throw Failure.Local(
                status: .notFound, reason: "\(handle.address) is not linked to this account",
                remedy: "see the linked ones: sealkit account address list")
        }
        try output.result("removed \(handle.address.escaped)", json: ["removed": .string(handle.address)])
    }
}
