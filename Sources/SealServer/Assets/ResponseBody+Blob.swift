import HummingbirdCore
import NIOCore
import SealStorage

extension ResponseBody {
    /// Streams the content. A chunk is written once the one before it has all but gone: meanwhile it is read.
    /// - Parameters:
    ///   - hold: what the chunks have of the memory.
    ///   - channel: is closed where its client takes nothing.
    init(_ content: BlobContent, within hold: LoadGate.Hold?, _ transfers: Transfers, on channel: any Channel) {
        self.init(contentLength: content.count) { writer in
            var offset = content.range.lowerBound
            while let chunk = try await content.chunk(at: offset) {
                offset += Int64(chunk.readableBytes)
                let transfer = transfers.begin(.chunk, on: channel)
                defer { transfer.end() }
                try await writer.write(chunk)
            }
            let transfer = transfers.begin(.chunk, on: channel)
            defer { transfer.end() }
            try await writer.finish(nil)
            withExtendedLifetime(hold) {}
        }
    }
}
