import Foundation
import SealKit

extension AccountFolder {
    func use(_ name: String) throws { try choosing { name } }

    /// An account has gone from this machine: where it was the one in use, the default one is.
    func left(_ keyFile: URL) throws {
        guard keyFile.deletingLastPathComponent().path == accounts.path else { return }
        try choosing { () throws(SealKitError) in
            let name = try current()
            return name != Self.defaultName && self.keyFile(name).path == keyFile.path ? Self.defaultName : nil
        }
    }

    /// - Parameter choose: the account in use from now on; nil leaves it. No other command chooses meanwhile.
    private func choosing(_ choose: () throws(SealKitError) -> String?) throws {
        do {
            try PrivateFile.locked(currentFile) { () throws(SealKitError) in
                guard let name = try choose() else { return }
                try PrivateFile.replace(currentFile, with: Data((name + "\n").utf8))
            }
        } catch {
            guard error.code == .internalError else { throw error as any Error }
            throw Failure.Local(status: .cannotWrite, reason: "\(currentFile.path) cannot be written")
        }
    }
}
