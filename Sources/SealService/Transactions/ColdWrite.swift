package import SealStorage

/// A write would have to make something from what is stored for longer than others should wait for it. It is taken back
/// by this, that is made beside the writer, and it begins again.
package protocol ColdWrite: Error {
    /// Makes it and remembers it, from a snapshot.
    func prepare(in connection: any SQLConnection) throws
}
