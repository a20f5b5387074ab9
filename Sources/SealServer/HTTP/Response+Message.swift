import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import SwiftProtobuf

extension Response {
    /// A wire message as the answer to `request`, in the encoding that the client wants.
    init(_ message: some Message, for request: Request, status: HTTPResponse.Status = .ok) throws {
        let encoding = WireEncoding(answerTo: request)
        let body: ByteBuffer
        switch encoding {
        case .protobuf: body = ByteBuffer(bytes: try message.serializedBytes() as [UInt8])
        case .json: body = ByteBuffer(bytes: try message.jsonUTF8Bytes() as [UInt8])
        }
        self.init(
            status: status,
            headers: [
                .contentType: encoding.mediaType, .contentLength: String(body.readableBytes), .cacheControl: "no-store",
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: body))
    }
}
