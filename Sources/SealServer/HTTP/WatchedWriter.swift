import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// Passes an answer's body on, and notes whether it was the connection that failed: then its client has gone, and
/// nothing here is at fault.
struct WatchedWriter: ResponseBodyWriter {
    final class Watch: Sendable {
        private let failed = Atomic(false)

        var hasConnectionFailed: Bool { failed.load(ordering: .relaxed) }
        fileprivate func connectionFails() { failed.store(true, ordering: .relaxed) }
    }

    private var writer: any ResponseBodyWriter
    private let watch: Watch

    init(_ writer: any ResponseBodyWriter, _ watch: Watch) { (self.writer, self.watch) = (writer, watch) }

    mutating func write(_ buffer: ByteBuffer) async throws {
        do { try await writer.write(buffer) } catch {
            watch.connectionFails()
            throw error
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        let (writer, watch) = (writer, watch)
        do { try await writer.finish(trailingHeaders) } catch {
            watch.connectionFails()
            throw error
        }
    }
}
