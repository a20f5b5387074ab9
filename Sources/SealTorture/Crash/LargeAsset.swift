import Foundation

/// An asset that is uploaded in parts: larger than one of them. Each device saves one record with it, time and again.
struct LargeAsset {
    let file: URL
    let bytes: Data

    private static let prefix = "large-"

    init(in folder: URL) throws {
        let stretch = Data((0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 11) })
        var bytes = Data()
        while bytes.count < 9 << 20 { bytes.append(stretch) }
        self.bytes = bytes
        file = folder.appendingPathComponent("large-asset")
        try bytes.write(to: file)
    }

    static func recordName(of device: Int) -> String { "\(prefix)\(device)" }
    static func isHad(by recordName: String) -> Bool { recordName.hasPrefix(prefix) }
}
