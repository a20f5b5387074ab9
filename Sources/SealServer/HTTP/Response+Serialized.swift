import HTTPTypes
import Hummingbird
import NIOCore
import SealService

extension Response {
    /// An answer that is serialized already.
    init(serialized bytes: [UInt8]) throws {
        var headers = Self.protobuf
        headers.append(HTTPField(name: .contentLength, value: String(bytes.count)))
        self.init(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Made once, as each field's text is checked.
    private static let protobuf: HTTPFields = [
        .contentType: WireEncoding.protobuf.mediaType, .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
    ]
}
