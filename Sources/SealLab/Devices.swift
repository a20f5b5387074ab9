import Foundation
public import SealKit

/// Further devices of one account, as a key file that is carried from one to the next makes them.
public enum Devices {
    /// - Parameter transports: one for each device.
    public static func more(of account: Account, through transports: [any Transport]) throws -> [Account] {
        let file = ServerProcess.temporaryFolder()
        try KeyFile.write(account, to: file, passphrase: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        let seeds = try KeyFile(contentsOf: file).open { () throws(SealKitError) in "" }
        return try transports.enumerated().map { index, transport in
            try Account(seeds: seeds, transport: transport, deviceName: "device \(index + 1)")
        }
    }
}
