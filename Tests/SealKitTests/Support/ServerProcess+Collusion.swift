import Foundation
import GRDB
import SealLab

extension ServerProcess {
    /// What whoever runs the server may do behind its back: it takes a file for another one.
    func take(blob id: String, for root: [UInt8]) async throws {
        let bytes = root.map { String(format: "%02x", $0) }.joined()
        let statement = "UPDATE blob SET root = '\\x\(bytes)' WHERE id = '\(id)'"
        guard try !LabDatabase.execute(statement, of: folder) else { return }
        // The server writes, too.
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        let database = try DatabaseQueue(
            path: dataFolder.appendingPathComponent("sealkit.sqlite").path, configuration: configuration)
        try await database.write {
            try $0.execute(sql: "UPDATE blob SET root = ? WHERE id = ?", arguments: [Data(root), id])
        }
    }
}
