import Logging

/// What controllers work with. Each controller keeps the whole value; everything in it may be replaced in tests.
struct Services: Sendable {
    let database: any SQLDatabase
    let blobs: any BlobStore
    let messenger: (any Messenger)?
    let configuration: ServerConfiguration
    let logger: Logger
    /// Microseconds since 1970.
    let clock: @Sendable () -> Int64
    /// That many bytes that nobody can guess.
    let randomBytes: @Sendable (Int) -> [UInt8]
}
