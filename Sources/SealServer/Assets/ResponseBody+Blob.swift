import HummingbirdCore
import NIOCore
import SealStorage

extension ResponseBody {
    /// Streams the content, reading the next chunk while the last one is being sent.
    init(_ content: BlobContent) {
        self.init(contentLength: Int(content.range.upperBound - content.range.lowerBound)) { writer in
            var offset = content.range.lowerBound
            var current = try await content.chunk(at: offset)
            while let chunk = current {
                offset += Int64(chunk.readableBytes)
                let position = offset
                async let next = content.chunk(at: position)
                try await writer.write(chunk)
                current = try await next
            }
            try await writer.finish(nil)
        }
    }
}
