package import Foundation
import HTTPTypes
import NIOCore
import NIOFoundationCompat
import SealPrimitives

/// The web client as a folder of static files, for another origin than the server's.
package enum WebFolder {
    /// Everything is made beside the folder, and put in its place at the end.
    /// - Parameters:
    ///   - folder: where there is nothing yet.
    ///   - server: whose shares it shows.
    /// - Throws: `CocoaError` for what is there, and for what cannot be written.
    package static func write(_ bundle: WebBundle, for server: WebServer, to folder: URL) throws {
        let files = FileManager.default
        guard !files.fileExists(atPath: folder.path) else { throw CocoaError(.fileWriteFileExists) }
        let made = folder.deletingLastPathComponent()
            .appendingPathComponent(".\(folder.lastPathComponent).\(UUID().uuidString)", isDirectory: true)
        do {
            let place = made.appendingPathComponent("w/\(bundle.hash.hex)", isDirectory: true)
            try files.createDirectory(at: place, withIntermediateDirectories: true)
            for (name, file) in bundle.files {
                for (ending, bytes) in [("", file.plain), (".gz", file.gzip), (".br", file.brotli)] {
                    try Data(buffer: bytes).write(to: place.appendingPathComponent(name + ending))
                }
            }
            try Data(bundle.page(of: server, apps: "").utf8).write(to: made.appendingPathComponent("share.html"))
            let headers = WebHeaders.all(server).map { "\($0.name.rawName): \($0.value)\n" }.joined()
            try Data(headers.utf8).write(to: made.appendingPathComponent("headers.txt"))
            try files.moveItem(at: made, to: folder)
        } catch {
            try? files.removeItem(at: made)
            throw error
        }
    }
}
