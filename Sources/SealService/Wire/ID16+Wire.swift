package import Foundation
import SealPrimitives
import SealWire

extension ID16 {
    /// - Parameter name: the subject of the sentence when it is none: "A device's id".
    /// - Throws: `invalidArguments` unless there are 16 bytes.
    package init(wire bytes: Data, _ name: String, remedy: String) throws(ServerError) {
        do {
            try self.init(bytes)
        } catch {
            throw ServerError(.invalidArguments, "\(name) has \(ID16.byteCount) bytes.", remedy: remedy)
        }
    }
}
