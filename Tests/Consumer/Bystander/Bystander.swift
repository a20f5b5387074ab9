import AsyncHTTPClient
import Crypto
import Dispatch
import Foundation
import Logging
import NIOCore
import SealKit

/// An app that does other things beside: the names of Foundation and of common packages mean what they did.
public enum Bystander {
    public static func names() -> [String] {
        let notification = Notification(name: Notification.Name("changed"))
        let progress = Progress(totalUnitCount: 1)
        let operation = BlockOperation {}
        let queue = DispatchQueue(label: "bystander")
        let logger = Logger(label: "bystander")
        let digest = SHA256.hash(data: Data("bystander".utf8))
        let buffer = ByteBuffer(string: "bystander")
        let request = HTTPClientRequest(url: "https://notes.example.org")
        let predicate = NSPredicate(value: true)
        let record = Record(recordType: "Note")
        let error: any Error = CocoaError(.fileNoSuchFile)
        return [
            notification.name.rawValue, "\(progress.totalUnitCount)", "\(operation.isFinished)", queue.label,
            logger.label,
            "\(digest.description.count > 0)", "\(buffer.readableBytes)", request.url,
            "\(predicate.evaluate(with: nil))", record.recordType,
            "\(error is SealKitError)",
        ]
    }

    /// A pattern of one's own on errors goes on to work beside SealKit's.
    public static func isMissing(_ error: any Error) -> Bool {
        switch error {
        case CocoaError.fileNoSuchFile: true
        case SealKitError.Code.unknownItem: true
        default: false
        }
    }
}
