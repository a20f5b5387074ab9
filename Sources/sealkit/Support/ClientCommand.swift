import ArgumentParser
import Foundation
import SealKit

/// A command with the global options.
protocol ClientCommand: AsyncParsableCommand {
    var global: GlobalOptions { get }
}

extension ClientCommand {
    var output: Output { global.output }
}

/// A command that works as the key file's account.
protocol AccountHolderCommand: ClientCommand {
    func run(_ client: Client) async throws
}

extension AccountHolderCommand {
    func run() async throws {
        let client = try Client(global)
        do {
            try await run(client)
        } catch {
            await client.end()
            throw error
        }
        await client.warnOfDevices(output)
        await client.end()
    }
}

/// The account of the key file, its container, and what this device has verified.
struct Client {
    let account: Account
    let container: Container

    init(_ global: GlobalOptions) throws(SealKitError) {
        let keyFile = try KeyFile(contentsOf: global.keyFileURL)
        let seeds = try keyFile.open { () throws(SealKitError) in
            if let given = try global.givenPassphrase() { return given }
            return try Prompt.secret("Passphrase of \(global.keyFileURL.path): ")
        }
        account = try Account(seeds: seeds, transport: try global.transport(server: keyFile.server))
        container = try global.makeContainer(account, trust: try TrustStore(file: global.trustFileURL))
    }

    /// Of devices that this one has not seen before, until they are acknowledged. Beside the command's result: that they cannot
    /// be asked for is no failure of it.
    func warnOfDevices(_ output: Output) async {
        do {
            let new = try await account.newDevices()
            guard !new.isEmpty else { return }
            output.note("warning: new devices of this account; sealkit device acknowledge, or revoke:\n" + DeviceText.lines(new))
        } catch where error.code == .integrityFailure {
            output.note("warning: \(error.reason)")
        } catch {}
    }

    /// Each command is a session of its own: none is left behind.
    func end() async { try? await account.logOut() }
}

extension GlobalOptions {
    var trustFileURL: URL { URL(fileURLWithPath: keyFileURL.path + ".trust") }
}
