import ArgumentParser
import Foundation
import SealKit

/// A command whose errors are JSON where its results are.
protocol SpeakingCommand: AsyncParsableCommand {
    var isJSON: Bool { get }
}

/// A command with the global options.
protocol ClientCommand: SpeakingCommand {
    var global: GlobalOptions { get }
}

extension ClientCommand {
    var isJSON: Bool { global.json }
    var output: Output { global.output }
}

/// A command that works as the key file's account.
protocol AccountHolderCommand: ClientCommand {
    func run(_ client: Client) async throws
    /// Whether it asks the server anything.
    static var needsServer: Bool { get }
    /// Whether new devices are told of after it.
    static var warnsOfDevices: Bool { get }
}

extension AccountHolderCommand {
    static var needsServer: Bool { true }
    static var warnsOfDevices: Bool { needsServer }

    func run() async throws {
        let client = try await Client(global)
        do {
            if Self.needsServer { try await client.finishKeyRotation(output) }
            try await run(client)
        } catch {
            let error = await client.namingOwners(error)
            await client.end()
            throw error
        }
        if Self.warnsOfDevices { await client.warnOfDevices(output) }
        await client.end()
    }
}

/// The account of the key file, its container, and what this device has verified.
struct Client {
    let account: Account
    let container: Container
    let trust: TrustStore
    /// Those that the command has named without an owner.
    let ownZones = OwnZones()

    init(_ global: GlobalOptions) async throws {
        let opened = try await Account.load(from: global.keyStore) { server throws(SealKitError) in
            try global.transport(server: server)
        }
        guard let account = opened else { throw global.noKeyFile }
        self.account = account
        trust = try global.openTrust()
        container = try global.makeContainer(account, trust: trust)
        PeopleNames.know(try await container.contacts.names(), own: try container.userRecordID().recordName)
    }

    /// Whoever takes part in a zone may have forgotten that it is somebody else's: then it is not to be made.
    fileprivate func namingOwners(_ error: any Error) async -> any Error {
        guard let refusal = error as? SealKitError, refusal.code == .zoneNotFound else { return error }
        let names = ownZones.names
        // Beside the error: that the shared ones cannot be asked for changes nothing about it.
        guard !names.isEmpty, let shared = try? await container.sharedDatabase.allRecordZones() else { return error }
        let found = shared.map(\.zoneID).filter { names.contains($0.zoneName) }
        guard !found.isEmpty else { return error }
        let owners = found.map { "--owner \($0.ownerName.withNames)" }.joined(separator: ", or ")
        let whose = found.count == 1 ? "one of this name is" : "\(found.count) of this name are"
        return SealKitError(
            .zoneNotFound, "\(names.sorted().joined(separator: ", ")) is no zone of this account's own",
            remedy: "\(whose) shared with it: \(owners)")
    }

    /// Of devices that this one has not seen before, until they are acknowledged. Beside the command's result: that
    /// they cannot be asked for is no failure of it.
    func warnOfDevices(_ output: Output) async {
        do {
            let new = try await account.newDevices()
            guard !new.isEmpty else { return }
            output.note(
                "warning: new devices of this account; sealkit device acknowledge, or revoke:\n" + DeviceText.lines(new)
            )
        } catch let error where error.code == .integrityFailure {
            output.note("warning: \(error.said.escaped.withNames)")
        } catch {}
    }

    /// Tells the zones and shares that have not been told yet of the account's new keys. What fails is told at the next
    /// command.
    fileprivate func finishKeyRotation(_ output: Output) async throws(SealKitError) {
        do { try await account.finishKeyRotation(trust: trust) } catch {
            guard error.code != .keysReplaced else { throw error }
            if !account.hasUntoldKeys {
                output.note("the account's new keys are not known everywhere yet: \(error.said.escaped)")
            }
        }
    }

    func makeKnown(_ output: Output) async { await container.makeKnown(output) }

    /// Each command is a session of its own: none is left behind, and no upload that nobody goes on with.
    func end() async {
        let (account, container) = (account, container)
        await Interruption.settle {
            await container.abandonBrokenUploads()
            try? await account.logOut()
        }
    }
}

extension Container {
    /// Lets others invite the account. Beside the command's result: its next one in the container does it too.
    func makeKnown(_ output: Output) async {
        do throws(SealKitError) {
            let quick = OperationConfiguration(timeoutIntervalForRequest: 10, timeoutIntervalForResource: 10)
            try await configuredWith(configuration: quick) { container throws(SealKitError) in
                try await container.register()
            }
        } catch {
            output.note(
                "nobody can invite this account here before it has reached the server in this container: \(error.said.escaped)"
            )
        }
    }
}

extension GlobalOptions {
    var trustFileURL: URL { TrustFiles.url(beside: keyFileURL) }

    /// What this device has verified as an account whose key file was there before. That there is nothing is said once:
    /// a disk that was full, or a file that was lost, is no decision of anybody's.
    func openTrust() throws -> TrustStore {
        let trust = try TrustFiles.open(beside: keyFileURL)
        if trust.isNew {
            output.note(
                "warning: this device remembers nothing of what it has verified (\(trustFileURL.path.escaped) is new): protection "
                    + "against rollback begins anew, and it is another device of the account; if that file was there before, put back a copy of it"
            )
        }
        return trust
    }
}
