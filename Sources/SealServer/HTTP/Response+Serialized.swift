import HTTPTypes
import Hummingbird
import NIOCore
import SealService

extension Response {
    /// An answer that is serialized already.
    init(serialized bytes: [UInt8]) throws {
        self.init(
            status: .ok,
            headers: [
                .contentType: WireEncoding.protobuf.mediaType, .contentLength: String(bytes.count),
                .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
