import Foundation
import SealKit

extension AccountFolder {
    func use(_ name: String) throws {
        do { try Data((name + "\n").utf8).write(to: currentFile, options: .atomic) } catch {
            throw Failure.Local(status: .cannotWrite, reason: "\(currentFile.path) cannot be written")
        }
    }

    /// An account has gone from this machine: where it was the one in use, the default one is.
    func left(_ keyFile: URL) throws {
        let name = try current()
        if name != Self.defaultName, self.keyFile(name).path == keyFile.path { try use(Self.defaultName) }
    }
}
