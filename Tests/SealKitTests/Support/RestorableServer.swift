import Foundation
import SealLab

/// A server of a test's own that can be started on an old copy of its database, at the same address.
final class RestorableServer: @unchecked Sendable {
    // Unchecked: used by one task.
    private(set) var process: ServerProcess
    private var copy: URL { process.folder.appendingPathComponent("backup") }

    init() throws { process = try ServerProcess(mail: false) }

    func backUp() throws {
        try restarting { data in
            try? FileManager.default.removeItem(at: copy)
            try FileManager.default.copyItem(at: data, to: copy)
            try LabDatabase.keep(of: process.folder)
        }
    }

    /// What was written since the backup is lost.
    func restore() throws {
        try restarting { data in
            try FileManager.default.removeItem(at: data)
            try FileManager.default.copyItem(at: copy, to: data)
            try LabDatabase.bringBack(of: process.folder)
        }
    }

    func stop() { process.stop() }

    private func restarting(_ change: (_ data: URL) throws -> Void) throws {
        let (folder, port) = (process.folder, process.port)
        process.terminate()
        try change(process.dataFolder)
        process = try ServerProcess(folder: folder, port: port, mail: false)
    }
}
